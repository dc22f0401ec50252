public import Contract

/// The outcome that the ledger has for a record that may be a redelivery, looked up by its origin before it is checked.
///
/// It counts only for the record that it is of (``isOf(_:_:)``): a topic that was made anew has other records at old
/// offsets.
public struct KnownOutcome: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// It has grants of its own.
        case granted
        /// Another submission's grant answers it; the event is a marked copy, for apps that publish repeats.
        case repeated
        case failed
        /// It is in `retries`.
        case waiting
    }

    public let origin: Origin
    public let bundleID: BundleID
    public let submissionID: SubmissionID
    public let userID: UserID
    public let kind: Kind
    /// The digest of the claim that failed or waits; nil where grants answer it, whatever its content was.
    public let digest: ClaimDigest?
    /// The events that are published again; none for a grant that owes a call.
    public internal(set) var publish: [RenderedEvent]
    /// Purchases that its rows pass over. The worker that wrote them may have ended before it told anybody.
    public internal(set) var passedOver: PassedOver?

    public init(
        origin: Origin, bundleID: BundleID, submissionID: SubmissionID, userID: UserID, kind: Kind,
        digest: ClaimDigest? = nil, publish: [RenderedEvent], passedOver: PassedOver? = nil
    ) {
        self.origin = origin
        self.bundleID = bundleID
        self.submissionID = submissionID
        self.userID = userID
        self.kind = kind
        self.digest = digest
        self.publish = publish
        self.passedOver = passedOver
    }

    /// Whether it is the outcome of this claimant's record of this content.
    public func isOf(_ claimant: Claimant, _ content: @autoclosure () -> ClaimDigest) -> Bool {
        bundleID == claimant.bundleID && submissionID == claimant.submissionID && userID == claimant.userID
            && (digest.map { $0 == content() } ?? true)
    }
}

/// A question to `grants` before a call to the App Store Server API.
public struct GrantLookup: Hashable, Sendable {
    public let bundleID: BundleID
    public let userID: UserID
    public let transactionID: TransactionID
    /// The environment that the submission names; nil counts as production.
    public let environment: Environment?
    public let orderID: OrderID?
    public let productID: ProductID?

    public init(
        bundleID: BundleID, userID: UserID, transactionID: TransactionID, environment: Environment?, orderID: OrderID?,
        productID: ProductID?
    ) {
        self.bundleID = bundleID
        self.userID = userID
        self.transactionID = transactionID
        self.environment = environment
        self.orderID = orderID
        self.productID = productID
    }
}

/// Puts together the rows that a ledger found by the origins of possible redeliveries.
public struct KnownOutcomes: Sendable {
    private struct Record: Hashable {
        let origin: Origin
        let submission: SubmissionKey
        let userID: UserID

        init(_ origin: Origin, _ claimant: Claimant) {
            self.origin = origin
            submission = claimant.submissionKey
            userID = claimant.userID
        }
    }

    private var outcomes: [Record: KnownOutcome] = [:]

    /// A record with a row that only a later version can read counts as one without an outcome. It is checked again,
    /// and the write finds that row.
    /// - Parameters:
    ///   - grants: The rows of `grants` of these origins, in any order.
    ///   - answers: The rows of `answers`.
    ///   - answering: The grants that the repeats among the answers name.
    ///   - waiting: The rows of `retries`.
    public init(
        grants: FoundGrants, answers: FoundAnswers, answering: FoundGrants, waiting: [WaitingRow]
    ) {
        for stored in grants.known.sorted(by: { $0.grant.reference < $1.grant.reference }) {
            add(
                .granted, Record(stored.grant.origin, stored.grant.claimant),
                stored.owesCall ? nil : .grant(stored.grant, repeatOf: nil), passedOver: stored.grant.passedOver)
        }
        let answering = Holders(answering)
        for answer in answers.known where outcomes[Record(answer.origin, answer.claimant)] == nil {
            let record = Record(answer.origin, answer.claimant)
            switch answer {
            case .failed(let failure): add(.failed, record, .failure(failure), failure.digest)
            case .repeated(let repeated):
                guard let holder = answering.holder(of: repeated.grant, nil).row else { continue }
                add(
                    .repeated, record,
                    holder.owesCall ? nil : .grant(holder.grant, repeatOf: repeated.claimant.submissionID),
                    passedOver: repeated.passedOver)
            }
        }
        for row in grants.later + answers.later { outcomes[Record(row.origin, row.claimant)] = nil }
        // A record has one row. If there are several, as a ledger that was set back may have, every driver takes the
        // same one.
        for row in waiting.sorted(by: { $0.key < $1.key }) {
            let record = Record(row.origin, row.pending.claimant)
            if outcomes[record] == nil {
                add(.waiting, record, row.isAnswered ? nil : .pending(row.pending, row.key), row.key)
            }
        }
    }

    /// The outcomes of some origins alone.
    public func sorted(of origins: [Origin]) -> [KnownOutcome] {
        let wanted = Set(origins)
        return sorted.filter { wanted.contains($0.origin) }
    }

    public var sorted: [KnownOutcome] {
        outcomes.values.sorted {
            ($0.origin, $0.bundleID, $0.submissionID, $0.userID) < ($1.origin, $1.bundleID, $1.submissionID, $1.userID)
        }
    }

    private mutating func add(
        _ kind: KnownOutcome.Kind, _ record: Record, _ telling: Telling?, _ digest: ClaimDigest? = nil,
        passedOver: PassedOver? = nil
    ) {
        let new = KnownOutcome(
            origin: record.origin, bundleID: record.submission.bundleID, submissionID: record.submission.submissionID,
            userID: record.userID, kind: kind, digest: digest, publish: [])
        outcomes[record, default: new].publish += telling.map { [$0.event] } ?? []
        if let passedOver { outcomes[record]?.passedOver = passedOver }
    }
}

extension GrantLookup {
    /// Whether a grant of this transaction answers the question. It must be this app's and user's, and nothing may
    /// contradict it. Both environments may have a transaction of the same number, and Apple is asked about production
    /// first. So a grant in the sandbox answers only a claim that names the sandbox.
    public func isAnswered(by grant: Grant) -> Bool {
        grant.transactionID == transactionID && grant.bundleID == bundleID && grant.userID == userID
            && (environment ?? .production) == grant.environment
            && (productID == nil || productID == grant.productID)
            && (orderID == nil || grant.orderID == nil || orderID == grant.orderID)
    }
}
