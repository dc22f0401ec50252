import Fulfillment
import Ledger
import Purchases
import Synchronization

/// A ledger that is away for the first calls, and that sometimes does what it is asked and says that it failed.
final class FlakyLedger: LedgerStore, WaitingRoom {
    private let ledger: any PipelineLedger
    private let failures = Mutex((before: 0, after: 0))
    private let damaged = Mutex<Set<Work>>([])
    private let attempts = Mutex([Int]())
    private let fates = Mutex<Set<SubmissionID>>([])
    /// Stands still while the ledger works.
    private let clock: VirtualClock?

    init(_ ledger: any PipelineLedger, clock: VirtualClock? = nil) {
        self.ledger = ledger
        self.clock = clock
    }

    /// Submissions whose fate is in the ledger.
    var settled: Set<SubmissionID> { fates.withLock { $0 } }

    /// How many attempts each settlement took that it was given, in their order.
    var attemptsOfSettlements: [Int] { attempts.withLock { $0 } }

    /// What a ledger does that can turn out to be damaged while all else goes on.
    enum Work: CaseIterable {
        case settling
        case takingWhatIsDue
    }

    /// From now on this is damaged.
    func damage(_ work: Work) { damaged.withLock { _ = $0.insert(work) } }

    private func check(_ work: Work) throws(LedgerError) {
        if damaged.withLock({ $0.contains(work) }) { throw .damaged("scripted") }
    }

    /// The next calls fail: so many without an effect, then so many with it.
    func fail(before: Int, after: Int) { failures.withLock { $0 = (before, after) } }

    private func failBefore() throws(LedgerError) {
        let fails = failures.withLock { failures in
            guard failures.before > 0 else { return false }
            failures.before -= 1
            return true
        }
        if fails { throw .unavailable("scripted") }
    }

    private func failAfter() throws(LedgerError) {
        let fails = failures.withLock { failures in
            guard failures.before == 0, failures.after > 0 else { return false }
            failures.after -= 1
            return true
        }
        if fails { throw .unavailable("scripted, after it was done") }
    }

    /// Runs a call that may be told to fail, or one that never is.
    private func working<Value>(
        mayFail: Bool = false, _ call: () async throws(LedgerError) -> Value
    ) async throws(LedgerError) -> Value {
        clock?.enter()
        defer { clock?.leave() }
        if mayFail { try failBefore() }
        let value = try await call()
        if mayFail { try failAfter() }
        return value
    }

    func recorded(_ keys: [SubmissionKey]) async throws(LedgerError) -> [SubmissionKey: RecordedSubmission] {
        clock?.enter()
        defer { clock?.leave() }
        try failBefore()
        return try await ledger.recorded(keys)
    }

    func settle(
        _ settlements: [Settlement], quarantines: [Quarantine], now: Timestamp
    ) async throws(LedgerError) -> SettleResult {
        try await working(mayFail: true) { () async throws(LedgerError) in
            try check(.settling)
            attempts.withLock { $0 += settlements.map(\.attempts) }
            let result = try await ledger.settle(settlements, quarantines: quarantines, now: now)
            fates.withLock { $0.formUnion(settlements.map(\.claimant.submissionID)) }
            return result
        }
    }

    func takeRelay(
        _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> RelayTurn? {
        try await working { () async throws(LedgerError) in try await ledger.takeRelay(worker, for: lease, now: now) }
    }

    func outbox(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry] {
        try await working { () async throws(LedgerError) in try await ledger.outbox(after: sequence, limit: limit) }
    }

    func published(
        _ note: RelayNote, by worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> Bool {
        try await working(mayFail: true) { () async throws(LedgerError) in
            try await ledger.published(note, by: worker, for: lease, now: now)
        }
    }

    func leaveRelay(_ worker: WorkerID) async throws(LedgerError) {
        try await working { () async throws(LedgerError) in try await ledger.leaveRelay(worker) }
    }

    func takeDue(
        _ worker: WorkerID, limit: Int, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> [DueSubmission] {
        try await working { () async throws(LedgerError) in
            try check(.takingWhatIsDue)
            return try await ledger.takeDue(worker, limit: limit, for: lease, now: now)
        }
    }

    func keepDue(
        _ worker: WorkerID, _ keys: [SubmissionKey], for lease: Duration, now: Timestamp
    ) async throws(LedgerError) {
        try await working { () async throws(LedgerError) in
            try await ledger.keepDue(worker, keys, for: lease, now: now)
        }
    }

    func giveBackDue(_ worker: WorkerID, now: Timestamp) async throws(LedgerError) {
        try await working { () async throws(LedgerError) in try await ledger.giveBackDue(worker, now: now) }
    }

    func backlog() async throws(LedgerError) -> LedgerBacklog {
        try await working { () async throws(LedgerError) in try await ledger.backlog() }
    }
}
