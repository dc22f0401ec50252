public import Contract

/// Puts together what a ledger found by the origins of records that may be redeliveries.
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

    private var outcomes: [KnownOutcome] = []
    private var places: [Record: Int] = [:]

    /// - Parameters:
    ///   - grants: The rows of `grants` of these origins, in any order.
    ///   - answers: The rows of `answers`.
    ///   - answering: The grants that the repeats among the answers name.
    ///   - waiting: Who claims what the rows of `retries` hold.
    public init(
        grants: [StoredGrant], answers: [Answer], answering: [StoredGrant], waiting: [(Origin, Claimant)]
    ) {
        for stored in grants.sorted(by: { $0.grant.reference < $1.grant.reference }) {
            add(
                .granted, Record(stored.grant.origin, stored.grant.claimant),
                stored.owesCall ? nil : .grant(stored.grant, repeatOf: nil))
        }
        let answering = Holders(answering)
        for answer in answers where places[Record(answer.origin, answer.claimant)] == nil {
            let record = Record(answer.origin, answer.claimant)
            switch answer {
            case .failed(let failure):
                add(.failed, record, .failure(failure))
            case .repeated(let repeated):
                guard let holder = answering.holder(of: repeated.grant, nil) else { continue }
                add(
                    .repeated, record,
                    holder.owesCall ? nil : .grant(holder.grant, repeatOf: repeated.claimant.submissionID))
            }
        }
        for (origin, claimant) in waiting where places[Record(origin, claimant)] == nil {
            add(.waiting, Record(origin, claimant), nil)
        }
    }

    /// By origin, then by submission.
    public var sorted: [KnownOutcome] {
        outcomes.sorted {
            ($0.origin, $0.bundleID, $0.submissionID, $0.userID) < ($1.origin, $1.bundleID, $1.submissionID, $1.userID)
        }
    }

    private mutating func add(_ kind: KnownOutcome.Kind, _ record: Record, _ telling: Telling?) {
        let publish = telling.map { [$0.event] } ?? []
        if let place = places[record] {
            let before = outcomes[place]
            outcomes[place] = Self.outcome(record, before.kind, before.publish + publish)
        } else {
            places[record] = outcomes.count
            outcomes.append(Self.outcome(record, kind, publish))
        }
    }

    private static func outcome(
        _ record: Record, _ kind: KnownOutcome.Kind, _ publish: [StoredEvent]
    ) -> KnownOutcome {
        KnownOutcome(
            origin: record.origin, bundleID: record.submission.bundleID, submissionID: record.submission.submissionID,
            userID: record.userID, kind: kind, publish: publish)
    }
}

extension GrantLookup {
    /// Whether a grant of this transaction answers the question: this app's and user's, and nothing contradicts it. Apple
    /// is asked about production first, so a grant in the sandbox answers only who names the sandbox: both may have a
    /// transaction of one number.
    public func isAnswered(by grant: Grant) -> Bool {
        grant.transactionID == transactionID && grant.bundleID == bundleID && grant.userID == userID
            && (environment ?? .production) == grant.environment
            && (productID == nil || productID == grant.productID)
            && (orderID == nil || grant.orderID == nil || orderID == grant.orderID)
    }
}
