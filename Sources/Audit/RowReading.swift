import Contract
import Ledger
import Scheduling
import Synchronization
import Threading

/// Reads the rows of a ledger, on a thread and a connection of its own.
final class RowReading: Sendable {
    struct Outcome: Sendable {
        let rows: RowFacts
        let facts: SortedFacts
    }

    private static let pause: Duration = .milliseconds(250)

    private let state: Mutex<Result<Outcome, AuditError>?>
    private let read = Atomic(0)
    private let done: WakeDescriptor

    var count: Int { read.load(ordering: .relaxed) }

    init(
        _ plan: AuditPlan, folder: String, _ openLedger: @escaping @Sendable () throws(LedgerError) -> AuditedLedger
    ) throws(AuditError) {
        state = Mutex(nil)
        do throws(ThreadingError) {
            done = try WakeDescriptor()
            let (window, owed, since) = (plan.window, plan.owed, plan.window.since)
            _ = try OwnerThread(name: "audit-rows") { [self] in
                let result = Result { () throws(AuditError) in
                    try rows(RowFacts(window, owed: owed), since: since, folder: folder, openLedger)
                }
                state.withLock { $0 = result }
                done.signal()
            }
        } catch {
            throw .noThread
        }
    }

    private func rows(
        _ start: RowFacts, since: Timestamp?, folder: String,
        _ openLedger: @Sendable () throws(LedgerError) -> AuditedLedger
    ) throws(AuditError) -> Outcome {
        let ledger = try AuditedLedger.opened(openLedger)
        var rows = start
        let spool = FactSpool(folder: folder, bound: AuditLimits.facts)
        for table in [AuditedTable.retries, .answers, .grants] {
            var after = Int64.min
            if let since, table != .retries {
                let first = since.advanced(by: .zero - AuditLimits.disorder)
                after = try ledger.sequence(in: table, since: first)
            }
            try ledger.read(table, after: after) { row throws(AuditError) in
                try rows.take(row, of: table, into: spool)
                read.wrappingAdd(1, ordering: .relaxed)
            }
        }
        return Outcome(rows: rows, facts: try spool.finish())
    }

    /// - Parameter progress: Told how many rows were read, at each turn.
    func wait(_ progress: (Int) -> Void) throws(AuditError) -> Outcome {
        while true {
            if let result = state.withLock({ $0 }) { return try result.get() }
            done.wait(until: .now + Self.pause)
            progress(count)
        }
    }
}
