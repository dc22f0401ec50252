public import Purchases

/// What the pipeline asks of a ledger about submissions that wait there.
///
/// A submission that is due is one worker's at a time. Whoever takes it has it until the lease ends, by the ledger's clock;
/// after that it is due again, for any worker. Settling it ends its stay, whoever settles.
public protocol WaitingRoom: Sendable {
    /// Takes submissions that are due, the longest due first: as many as the limit and ``DueSubmission/maxTakenBytes`` let.
    func takeDue(
        _ worker: WorkerID, limit: Int, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> [DueSubmission]

    /// Keeps these for another lease, as far as they are still this worker's. What it took and does not name comes due
    /// when its lease ends: it may never have heard that it took it.
    func keepDue(
        _ worker: WorkerID, _ keys: [SubmissionKey], for lease: Duration, now: Timestamp
    ) async throws(LedgerError)

    /// What is not done yet. Costs one look at each waiting submission's entry in an index: a tenth of a second for a
    /// million.
    func backlog() async throws(LedgerError) -> LedgerBacklog

    /// Gives back all that this worker took and did not settle: due at once, and no try is counted.
    func giveBackDue(_ worker: WorkerID, now: Timestamp) async throws(LedgerError)
}

/// Who does something to the ledger by hand, and why. Kept for ever.
public struct OperatorNote: Hashable, Sendable {
    /// 1 to 128 characters: a person, not a role.
    public let actor: String
    /// One sentence.
    public let reason: String

    /// A note.
    public init(actor: String, reason: String) {
        self.actor = actor
        self.reason = reason
    }
}

/// Something that a person did.
public struct OperatorAction: Hashable, Sendable {
    /// What was done.
    public enum Kind: String, Sendable, CaseIterable {
        case retry
        case abandon
    }

    public let at: Timestamp
    public let kind: Kind
    public let note: OperatorNote
    /// Submissions that it changed.
    public let count: Int

    /// An action as read from the ledger.
    public init(at: Timestamp, kind: Kind, note: OperatorNote, count: Int) {
        self.at = at
        self.kind = kind
        self.note = note
        self.count = count
    }
}

/// What came of making a submission due.
public enum Recall: Hashable, Sendable {
    /// It is due now.
    case due
    /// A worker has it, and is trying it.
    case underWay(WorkerID)
    /// The ledger has no evidence of it: its record is where it came from, and nothing tries it by itself.
    case notKept
    case notFound
    /// It has its outcome already.
    case settled(RecordedOutcome)
}

/// What came of giving a submission up.
public enum Abandonment: Hashable, Sendable {
    case abandoned(EventID)
    case notFound
    /// It has its outcome already.
    case settled(RecordedOutcome)
}

/// What people ask a ledger to do.
public protocol LedgerOperations: Sendable {
    /// Makes a waiting submission due at once. The note is kept if that changed anything.
    func retry(
        _ key: SubmissionKey, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Recall

    /// Makes all submissions due that wait for a cause, so many a second.
    ///
    /// - Parameters:
    ///   - bundleID: of which app; nil for all.
    ///   - perSecond: above 0; they come due evenly, the oldest first.
    /// - Returns: how many.
    func retryAll(
        _ cause: WaitingCause, bundleID: BundleID?, perSecond: Double, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Int

    /// Gives a waiting submission up: it fails as `abandoned_by_operator`, and its event is published.
    func abandon(
        _ key: SubmissionKey, _ note: OperatorNote, now: Timestamp
    ) async throws(LedgerError) -> Abandonment
}

/// How a waiting submission stands.
public struct WaitingState: Hashable, Sendable {
    /// When it is tried next, or until when it is being tried.
    public let dueAt: Timestamp
    /// The worker that is trying it now; nil if none is.
    public let worker: WorkerID?

    /// A state as read from the ledger.
    public init(dueAt: Timestamp, worker: WorkerID?) {
        self.dueAt = dueAt
        self.worker = worker
    }
}

/// What a ledger has that is not done yet, of all workers.
public struct LedgerBacklog: Hashable, Sendable {
    /// Submissions by what they wait for; a cause that none waits for is missing.
    public let waiting: [WaitingCause: Int]
    /// When the first of them is, or was, due.
    public let firstDueAt: Timestamp?
    /// Entries of the outbox that wait to be published, copies included.
    public let unpublished: Int

    /// A backlog as read from the ledger.
    public init(waiting: [WaitingCause: Int], firstDueAt: Timestamp?, unpublished: Int) {
        self.waiting = waiting
        self.firstDueAt = firstDueAt
        self.unpublished = unpublished
    }
}
