public import Contract
import Cryptography

/// A user whose ids are to leave the ledger.
public struct Erasure: Hashable, Sendable {
    /// Most rows of a table in one call.
    public static let most = 500

    public let userID: UserID
    /// Nil for all apps.
    public let bundleID: BundleID?
    public let pseudonyms: Pseudonyms
    /// Whether rows are erased whose records no checkpoint has passed. Records of a topic that was made anew never are.
    /// Of other records an event may be untold, and is then lost.
    public let takesUnpassed: Bool

    public init(userID: UserID, bundleID: BundleID?, pseudonyms: Pseudonyms, takesUnpassed: Bool = false) {
        self.userID = userID
        self.bundleID = bundleID
        self.pseudonyms = pseudonyms
        self.takesUnpassed = takesUnpassed
    }

    /// The note as `operator_actions` keeps it: it has the pseudonym and not the user.
    /// - Parameter now: The ledger's clock. Decisions until then may be gone, however long ago the command began.
    public func named(_ note: OperatorNote, now: Timestamp) -> OperatorNote {
        OperatorNote(actor: note.actor, reason: note.reason, at: max(note.at, now))
            .about("\(pseudonyms.of(userID))")
    }
}

/// Stands in for ids of a person, by a key that the ledger does not have. The same id has the same pseudonym as long as
/// the key is the same. So a person with the key and an id can find its rows again.
public struct Pseudonyms: Hashable, Sendable {
    /// Least bytes of a key: fewer could be guessed, and with them the ids.
    public static let leastKeyBytes = 32
    fileprivate static let prefix = "erased:"
    fileprivate static let digits = 32

    private let key: [UInt8]

    /// Nil for a key that is too short.
    public init?(key: [UInt8]) {
        guard key.count >= Self.leastKeyBytes else { return nil }
        self.key = key
    }

    /// The pseudonym of an id, in 39 characters. Ids of different kinds have different ones, whatever their text.
    public func of(_ id: UserID) -> UserID { UserID(text("user", id.rawValue)) }
    public func of(_ id: OrderID) -> OrderID { OrderID(text("order", id.rawValue)) }
    public func of(_ id: SubmissionID) -> SubmissionID { SubmissionID(text("submission", id.rawValue)) }

    fileprivate static func isOne(_ text: String) -> Bool {
        text.hasPrefix(prefix) && text.utf8.count == prefix.utf8.count + digits
    }

    /// `erased:` and the first 128 bits of HMAC-SHA256. Every kind of id may have this form.
    private func text(_ kind: String, _ id: String) -> String {
        Self.prefix + HMACSHA256(key: key).code(of: Array("\(kind):\(id)".utf8)).hex.prefix(Self.digits)
    }
}

extension Grant {
    /// Whether its user was erased. Both ids are pseudonyms then: one alone may be an id that a backend has chosen.
    public var isErased: Bool { Pseudonyms.isOne(userID.rawValue) && Pseudonyms.isOne(submissionID.rawValue) }
}

/// The result of one call for an ``Erasure``.
public enum ErasureResult: Hashable, Sendable {
    /// So many rows were changed, or would be.
    case done(Rows)
    /// Nothing was changed: so many submissions of the user wait, and so many rows of the outbox are owed. No
    /// checkpoint passes the records of so many rows. The event of such a record may be untold.
    case inTheWay(waiting: Int, owed: Int, unpassed: Int)

    public struct Rows: Hashable, Sendable {
        public var grants: Int
        public var answers: Int
        /// Rows of `operator_actions` about the user's submissions.
        public var actions: Int
        /// Whether none is left that this version can read.
        public var isComplete: Bool
        /// Grants that only a later version can read: they keep the user's ids. Counted once all others are through, by
        /// a trial as of one moment. An erasure that is applied may count grants that have come meanwhile, too.
        public var later: Int

        public init(grants: Int, answers: Int, actions: Int, isComplete: Bool, later: Int = 0) {
            self.grants = grants
            self.answers = answers
            self.actions = actions
            self.isComplete = isComplete
            self.later = later
        }
    }
}

/// Everything that a driver finds of a user in one call.
public struct FoundErasure: Sendable {
    /// Replaces operators' reasons.
    public static let reason = "erased"

    /// None while answers are left for another call: a repeat must not stay beside a grant of a pseudonym.
    public let erased: [ErasedGrant]
    public let answers: [SubmissionRow]
    /// The submissions of these rows, each once.
    public let former: [SubmissionKey]
    public let result: ErasureResult

    /// Looks for all rows of a user.
    /// - Parameters:
    ///   - count: How many grants the user has, whatever version can read them.
    ///   - list: Submissions that wait, or failures and repeats. Any version can read them.
    ///   - owed: The rows of the outbox with some keys.
    ///   - partitions: All with their checkpoints.
    ///   - actions: Counts operators' actions on some submissions.
    public init<Failure: Error>(
        _ erasure: Erasure, page: (GrantQuery) throws(Failure) -> [GrantRow], count: () throws(Failure) -> Int,
        list: (SubmissionQuery) throws(Failure) -> [SubmissionRow],
        owed: ([OutboxKey]) throws(Failure) -> [OutboxRow], partitions: () throws(Failure) -> [PartitionRow],
        actions: ([SubmissionKey]) throws(Failure) -> Int
    ) throws(Failure) {
        func found(_ state: SubmissionState) throws(Failure) -> [SubmissionRow] {
            try list(
                SubmissionQuery(
                    state: state, bundleID: erasure.bundleID, userID: erasure.userID, limit: Erasure.most))
        }
        let grants = try page(GrantQuery(bundleID: erasure.bundleID, userID: erasure.userID, limit: Erasure.most))
        let (failed, repeated) = (try found(.failed), try found(.repeated))
        answers = failed + repeated
        let isLastOfAnswers = [failed.count, repeated.count].allSatisfy { $0 < Erasure.most }
        erased = isLastOfAnswers ? grants.map { ErasedGrant($0, erasure.pseudonyms) } : []
        former = Set(erased.map(\.former) + answers.map(\.claimant.submissionKey)).sorted()
        let waiting = try found(.retrying).count + found(.held).count
        let decided = grants.map { SubmissionRow($0) } + answers
        // Checkpoints are read first: a worker that owes an event and then passes its record is seen by one of the two.
        let unpassed = decided.isEmpty || erasure.takesUnpassed ? 0 : Self.unpassed(decided, try partitions())
        let owedRows = try owed(Array(Set(decided.flatMap(\.owable)))).count
        guard waiting == 0, owedRows == 0, unpassed == 0 else {
            result = .inTheWay(waiting: waiting, owed: owedRows, unpassed: unpassed)
            return
        }
        let isComplete = isLastOfAnswers && grants.count < Erasure.most
        let later = try isComplete ? count() - grants.count : 0
        result = .done(
            ErasureResult.Rows(
                grants: erased.count, answers: answers.count, actions: try actions(former), isComplete: isComplete,
                later: later))
    }

    /// How many rows come from records that no checkpoint has passed: a worker that reads such a record publishes its
    /// event.
    private static func unpassed(_ rows: [SubmissionRow], _ partitions: [PartitionRow]) -> Int {
        let checkpoints = Checkpoints(partitions)
        return rows.count { !$0.isImported && checkpoints.isUnpassed($0.origin, unknown: true) }
    }

    public var hasRows: Bool { !erased.isEmpty || !answers.isEmpty }
}

/// The ids in a grant of a user who is erased, as they are and as they will be.
public struct ErasedGrant: Hashable, Sendable {
    public let place: Int64
    public let former: SubmissionKey
    public let submissionID: SubmissionID
    public let userID: UserID
    public let orderID: OrderID?

    public init(_ row: GrantRow, _ pseudonyms: Pseudonyms) {
        place = row.sequence
        former = row.grant.claimant.submissionKey
        submissionID = pseudonyms.of(row.grant.submissionID)
        userID = pseudonyms.of(row.grant.userID)
        orderID = row.grant.orderID.map(pseudonyms.of)
    }
}
