import Ledger
import Purchases
import Synchronization

/// A ledger that is away for the first calls, and that sometimes does what it is asked and says that it failed.
final class FlakyLedger: LedgerStore {
    private let ledger: any LedgerStore
    private let failures = Mutex((before: 0, after: 0))
    private let attempts = Mutex([Int]())

    /// Stands still while the ledger works.
    private let clock: VirtualClock?

    init(_ ledger: any LedgerStore, clock: VirtualClock? = nil) {
        self.ledger = ledger
        self.clock = clock
    }

    /// How many attempts each settlement took that it was given, in their order.
    var attemptsOfSettlements: [Int] { attempts.withLock { $0 } }

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

    func recorded(_ keys: [SubmissionKey]) async throws(LedgerError) -> [SubmissionKey: RecordedSubmission] {
        clock?.enter()
        defer { clock?.leave() }
        try failBefore()
        return try await ledger.recorded(keys)
    }

    func settle(
        _ settlements: [Settlement], quarantines: [Quarantine], now: Timestamp
    ) async throws(LedgerError) -> SettleResult {
        clock?.enter()
        defer { clock?.leave() }
        try failBefore()
        attempts.withLock { $0 += settlements.map(\.attempts) }
        let result = try await ledger.settle(settlements, quarantines: quarantines, now: now)
        try failAfter()
        return result
    }

    func takeRelay(
        _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> RelayTurn? {
        clock?.enter()
        defer { clock?.leave() }
        return try await ledger.takeRelay(worker, for: lease, now: now)
    }

    func outbox(after sequence: Int64, limit: Int) async throws(LedgerError) -> [OutboxEntry] {
        clock?.enter()
        defer { clock?.leave() }
        return try await ledger.outbox(after: sequence, limit: limit)
    }

    func published(
        _ note: RelayNote, by worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> Bool {
        clock?.enter()
        defer { clock?.leave() }
        try failBefore()
        let isOurs = try await ledger.published(note, by: worker, for: lease, now: now)
        try failAfter()
        return isOurs
    }

    func leaveRelay(_ worker: WorkerID) async throws(LedgerError) {
        clock?.enter()
        defer { clock?.leave() }
        try await ledger.leaveRelay(worker)
    }
}
