public import Contract

/// The operators' interface to a ledger, for one thread at a time; workers may write meanwhile. Each change is written
/// down in `operator_actions`, in the same transaction.
public protocol LedgerOperator: AnyObject {
    /// As ``LedgerConnection/identity()``.
    func identity() throws(LedgerError) -> String

    /// As ``LedgerConnection/clockLead``.
    var clockLead: Int64 { get }

    /// The group that the ledger belongs to; nil before its first worker.
    func group() throws(LedgerError) -> ConsumerGroup?

    /// Whether workers may take over these partitions, which have committed offsets. They may if the ledger knows them,
    /// or others of their topic, see ``TakeOverResult/forgotten(ledger:)``.
    func knows(_ partitions: [TopicPartition]) throws(LedgerError) -> Bool

    /// Everything that the ledger has of submissions and of words, and how far workers are, all at one moment. There is
    /// a record for each key and a result for each search, empty where the ledger knows nothing.
    func look(at keys: [SubmissionKey], for searches: [Search]) throws(LedgerError) -> LedgerLook

    /// Whether the ledger has granted purchases of an app.
    func hasGrants(of app: BundleID) throws(LedgerError) -> Bool

    /// Lists of submissions, all at one moment: one list for each query, newest first, with a row for each grant. One
    /// that ``SubmissionQuery/isWalked`` is asked for by ``part(of:)``, or takes as long as its table is large.
    func submissions(_ queries: [SubmissionQuery]) throws(LedgerError) -> [[SubmissionRow]]

    /// Grants, newest first. For those that ``GrantQuery/isWalked`` see ``part(of:)``.
    func grants(_ query: GrantQuery) throws(LedgerError) -> [GrantRow]

    /// Rows of the outbox that this version can read, in the order in which they are due.
    func outbox(limit: Int) throws(LedgerError) -> [OutboxRow]

    /// How many rows of the outbox only a later version can read.
    func laterOwed() throws(LedgerError) -> Int

    /// The rows of the outbox that have some of these keys, in the order of the keys.
    func owed(_ keys: [OutboxKey]) throws(LedgerError) -> [OutboxRow]

    /// The operators' actions on a submission, in order; nil for the ledger as a whole.
    func actions(on key: SubmissionKey?) throws(LedgerError) -> [OperatorAction]

    /// Makes this ledger a group's, even if it was another's. Reading begins at the group's offsets of partitions that
    /// the ledger does not know. False if its id is another one.
    ///
    /// Partitions that the ledger knows stay as they are, unless it moves to another cluster. Its checkpoints mean
    /// nothing in another cluster: ownership of all partitions ends, and each is read from the group's offset, or its
    /// oldest record.
    /// - Parameter committed: The group's committed offsets as they are now.
    func accept(
        ledger id: String, for group: ConsumerGroup, _ committed: [TopicPartition: Int64], _ note: OperatorNote
    ) throws(LedgerError) -> Bool

    /// The partitions that workers have taken over, in order.
    func partitions() throws(LedgerError) -> [PartitionRow]

    /// Workers by their signs of life, in the order of names: live ones, and those of the last day that did not leave
    /// in order.
    func workers() throws(LedgerError) -> [WorkerRow]

    /// Passes offsets whose records no worker can read, owes a stub for each to the quarantine topic, and ends the
    /// partition's ownership. Only from the first offset that is not complete, so nothing before it is lost.
    func pass(_ passed: PassedOffsets, _ note: OperatorNote) throws(LedgerError) -> PassResult

    /// Notes an operator's action beside the ledger, about all of it: a record that is submitted again.
    func note(_ kind: OperatorAction.Kind, _ note: OperatorNote) throws(LedgerError)

    /// Makes the rows of a submission in `retries` due at once, except for those that a worker has.
    /// - Returns: How many were made due; nil if nothing of the submission waits.
    func retryNow(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> Int?

    /// Deletes the rows of a submission from `retries` and fails it. If its user has a grant of it, the grant's event
    /// is published again instead. Events go to the outbox. An attempt that is under way comes too late.
    /// - Parameter mayEnd: Whether a row may go. It is asked once nobody else can take the row or change it.
    /// - Returns: The outcome of each row; empty if nothing of the submission waits. Nil if one of its rows may not go:
    ///   nothing changes. If a row in the way is a later version's, nothing changes, either: it is `.held` alone.
    func abandon(
        _ key: SubmissionKey, _ note: OperatorNote, where mayEnd: (RetryRow) -> Bool
    ) throws(LedgerError) -> [Outcome]?

    /// A page of a table in the order of its sequence, which an audit reads from end to end.
    /// - Parameter after: The sequence of the last row of the page before; `Int64.min` before the first.
    func audited(_ table: AuditedTable, after: Int64, limit: Int) throws(LedgerError) -> [AuditedRow]

    /// Puts events into the outbox that an audit has missed on their topics; workers publish them at once.
    /// - Returns: How many were not in the outbox yet.
    func repair(_ untold: [UntoldEvent], _ note: OperatorNote) throws(LedgerError) -> Int

    // MARK: Upkeep

    // The work on many rows, piece by piece. Each call is one transaction, short enough for workers beside it; a command
    // makes many of them and may be stopped between any two.

    /// The places of a table's first and last row (see ``DecidedTable``); nil while it is empty.
    func span(of table: DecidedTable) throws(LedgerError) -> ClosedRange<Int64>?

    /// When the first row of some places was decided, imported ones left out; nil where there is none.
    func firstDecision(
        in table: DecidedTable, _ places: ClosedRange<Int64>
    ) throws(LedgerError) -> Timestamp?

    /// The events of decided rows, in the order of their places, to be published again.
    func events(_ query: DecidedQuery) throws(LedgerError) -> EventPage

    /// Adds grants of another system, see ``GrantImport``, each unless its transaction or its key is taken. They have
    /// no event, and no call is owed.
    /// - Parameters:
    ///   - grants: At most ``GrantImport/most``, of one file.
    ///   - isTrial: Nothing is written: the results say which purchases the ledger has already.
    /// - Returns: One result for each, in order.
    func add(imported grants: [Grant], isTrial: Bool) throws(LedgerError) -> [ImportResult]

    /// Deletes the answers of some places that were given before a moment. An answer whose event the outbox owes stays.
    /// So does one of a submission that operators have acted on: an erasure finds their actions by it.
    /// - Parameter isTrial: Nothing is deleted.
    /// - Returns: How many were or would be deleted.
    func prune(
        _ places: ClosedRange<Int64>, before: Timestamp, isTrial: Bool
    ) throws(LedgerError) -> Int

    /// Replaces a user's ids by pseudonyms in at most ``Erasure/most`` grants, and deletes as many of the user's
    /// answers. All answers go before the first grant. Purchases keep their keys, so nothing can be granted again.
    /// Nothing is changed while a submission of the user waits, while something is owed to the user, or before a
    /// checkpoint passes the user's records. Grants that only a later version can read stay, and are counted.
    /// - Parameter note: The operator who does it, and why; nil for a trial, which changes nothing.
    func erase(_ erasure: Erasure, _ note: OperatorNote?) throws(LedgerError) -> ErasureResult
}

/// The person who acts, the time and the reason.
public struct OperatorNote: Hashable, Sendable {
    public let actor: String
    public let reason: String
    public let at: Timestamp

    public init(actor: String, reason: String, at: Timestamp) {
        self.actor = actor
        self.reason = reason
        self.at = at
    }
}

/// The answers to questions that were asked together, in the order of the questions.
public struct LedgerLook: Sendable {
    public let records: [SubmissionRecord]
    public let results: [SearchResult]
    /// As ``LedgerOperator/partitions()``.
    public let partitions: [PartitionRow]

    public init(records: [SubmissionRecord], results: [SearchResult], partitions: [PartitionRow]) {
        (self.records, self.results, self.partitions) = (records, results, partitions)
    }
}

extension LedgerOperator {
    /// Everything that the ledger has of submissions at one moment: one record for each key.
    public func records(of keys: [SubmissionKey]) throws(LedgerError) -> [SubmissionRecord] {
        try look(at: keys, for: []).records
    }

    /// Everything that the ledger has of one submission.
    public func submission(_ key: SubmissionKey) throws(LedgerError) -> SubmissionRecord {
        try records(of: [key]).first ?? SubmissionRecord(grants: [], answer: nil, waiting: [], owed: [], later: 0)
    }

    /// This host's moment, or the ledger's if that is earlier. To a clock that is ahead, the ledger's rows look older
    /// than they are.
    /// - Throws: as ``LedgerOperator/identity()``, which is called to compare the clocks.
    public func earlier(_ now: Timestamp) throws(LedgerError) -> Timestamp {
        // A call, by which the clocks are compared.
        _ = try identity()
        return min(now, now.advanced(by: .milliseconds(clockLead)))
    }

    /// Looks for a word among the ids of all apps.
    public func find(_ word: String, limit: Int) throws(LedgerError) -> SearchResult {
        let search = Search(word, limit: limit)
        return try look(at: [], for: [search]).results.first ?? search.result([])
    }
}

extension OperatorNote {
    private static let pruning = "answers before "

    /// The note with what was done, in front of its reason.
    public func about(_ what: String) -> OperatorNote {
        OperatorNote(actor: actor, reason: "\(what): \(reason)", at: at)
    }

    /// The note as `operator_actions` keeps it of answers that were pruned.
    public func pruning(before: Timestamp) -> OperatorNote { about("\(Self.pruning)\(before)") }

    /// The moment of a note that ``pruning(before:)`` has made; nil for others.
    public var prunesBefore: Timestamp? {
        guard reason.hasPrefix(Self.pruning) else { return nil }
        let rest = reason.dropFirst(Self.pruning.count)
        // The first colons stand within the time.
        return rest.firstRange(of: ": ").flatMap { Timestamp(rfc3339: String(rest[..<$0.lowerBound])) }
    }

    /// The note as `operator_actions` keeps it of events that were put into the outbox.
    public func counting(_ events: Int) -> OperatorNote { about("\(events) \(events == 1 ? "event" : "events")") }
}

extension Decision {
    /// The decision that a row of `retries` was taken for by a person who gives it up.
    /// - Parameter now: The ledger's clock. An audit looks at rows from its checkpoint on, and the command may have begun
    ///   long before.
    public static func abandoning(_ due: DueRetry, _ note: OperatorNote, now: Timestamp) -> Decision {
        let rejection = Rejection(.abandonedByOperator, note.reason, transactionID: due.submission.claim.transactionID)
        return Decision(
            subject: .submission(due.submission), source: .row(due.lease), content: .fail(rejection),
            attempts: due.attempts, decidedAt: max(note.at, now), owesCall: false, tellsWaiting: false,
            repeats: .publish, doubtsNothingNew: false)
    }
}

/// A person's command and the reason for it: a row of `operator_actions`. It is never deleted. An erasure replaces its
/// reason and the submission's id.
public struct OperatorAction: Hashable, Sendable {
    /// The word of a column. Actions with a word of a later version are not listed.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case accept
        case retry
        case abandon
        case pass
        case resubmit
        case republish
        case importGrants = "import"
        case prune
        case erase
        case repair
    }

    public let kind: Kind
    public let note: OperatorNote
    /// Nil for what concerns the ledger as a whole.
    public let submission: SubmissionKey?

    public init(kind: Kind, note: OperatorNote, submission: SubmissionKey?) {
        self.kind = kind
        self.note = note
        self.submission = submission
    }
}

/// All that a ledger has of one submission.
public struct SubmissionRecord: Hashable, Sendable {
    /// Its own grants, oldest first.
    public let grants: [GrantRow]
    /// Its failure, or the grant that answers it.
    public let answer: Answer?
    /// Its rows in `retries`: one, unless other content came under its id. Their evidence is empty, and has its kind
    /// alone: many rows may have megabytes each.
    public let waiting: [RetryRow]
    /// The calls and events that are still owed for it.
    public var owed: [OutboxRow]
    /// Its rows that only a later version can read; nothing above has them.
    public let later: Int

    public init(grants: [GrantRow], answer: Answer?, waiting: [RetryRow], owed: [OutboxRow], later: Int) {
        self.later = later
        self.grants = grants
        self.answer = answer
        self.waiting = waiting
        self.owed = owed
    }

    /// Whether the ledger has anything of it.
    public var isKnown: Bool { !grants.isEmpty || answer != nil || !waiting.isEmpty || later > 0 }
}

/// Which grants a list shows; members that are nil do not narrow it.
public struct GrantQuery: Hashable, Sendable {
    public var bundleID: BundleID?
    public var userID: UserID?
    public var orderID: OrderID?
    /// Matches the transaction's id, and that of the original purchase where it makes the grant key.
    public var transactionID: TransactionID?
    public var submissionID: SubmissionID?
    /// Continues behind the last row of the page before.
    public var before: Int64?
    /// The earliest place of a row.
    public var from: Int64?
    public var limit: Int

    public init(
        bundleID: BundleID? = nil, userID: UserID? = nil, orderID: OrderID? = nil,
        transactionID: TransactionID? = nil, submissionID: SubmissionID? = nil, before: Int64? = nil, limit: Int = 100
    ) {
        self.bundleID = bundleID
        self.userID = userID
        self.orderID = orderID
        self.transactionID = transactionID
        self.submissionID = submissionID
        self.before = before
        self.limit = limit
    }
}

/// A row of `grants` as a list shows it. Rows that only a later version can read are not listed.
public struct GrantRow: Hashable, Sendable {
    /// Its sequence number in the ledger; higher is newer.
    public let sequence: Int64
    public let grant: Grant

    public init(sequence: Int64, grant: Grant) {
        self.sequence = sequence
        self.grant = grant
    }
}

/// A row of `retries` as people see it. Evidence is worth a purchase and is not shown.
public struct RetryRow: Hashable, Sendable {
    public let key: RetryKey
    public let submission: Submission
    public let entry: RetryEntry
    public let attempts: Int
    /// When it is tried next, or when the lease ends that a worker has, by the ledger's clock.
    public let dueAt: Timestamp
    public let isLeased: Bool

    public init(
        key: RetryKey, submission: Submission, entry: RetryEntry, attempts: Int, dueAt: Timestamp, isLeased: Bool
    ) {
        self.key = key
        self.submission = submission
        self.entry = entry
        self.attempts = attempts
        self.dueAt = dueAt
        self.isLeased = isLeased
    }
}

/// A row of `outbox` as people see it.
public struct OutboxRow: Hashable, Sendable {
    public let key: OutboxKey
    public let step: OutboxStep
    public let target: OutboxTarget
    /// When its step is tried next, or when a worker's lease ends, by the ledger's clock.
    public let dueAt: Timestamp
    /// When its step was first due.
    public let owedSince: Timestamp
    public let isLeased: Bool
    /// Steps that did not help.
    public let attempts: Int
    /// Of a call: the latest answer of the service, if it has given one.
    public let answer: ServiceAnswer?

    public init(
        key: OutboxKey, step: OutboxStep, target: OutboxTarget, dueAt: Timestamp, owedSince: Timestamp,
        isLeased: Bool, attempts: Int, answer: ServiceAnswer? = nil
    ) {
        self.answer = answer
        self.key = key
        self.step = step
        self.target = target
        self.dueAt = dueAt
        self.owedSince = owedSince
        self.isLeased = isLeased
        self.attempts = attempts
    }
}
