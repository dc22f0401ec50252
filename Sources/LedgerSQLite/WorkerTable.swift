import Contract
import Ledger

/// `workers`: the signs of life of workers.
struct WorkerTable {
    let database: Database

    /// Takes a worker's sign, and forgets workers that have been gone for long.
    /// - Returns: How many workers live.
    func sign(of worker: WorkerSign, now: Timestamp) throws(StoreError) -> Int {
        try database.statement(
            """
            INSERT INTO workers (\(WorkerColumns.written.list)) VALUES (\(WorkerColumns.written.values))
            ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
            """
        ).run { WorkerColumns.write(worker, now: now, to: &$0) }
        try database.statement("DELETE FROM workers WHERE seen_at < ?").run {
            $0.integer(now.milliseconds - WorkerSign.keptFor)
        }
        return try database.statement("SELECT count(*) FROM workers WHERE seen_at BETWEEN ? AND ?").count {
            $0.integer(WorkerSign.living(at: now).lowerBound)
            $0.integer(WorkerSign.living(at: now).upperBound)
        }
    }

    func all(now: Timestamp) throws(StoreError) -> [WorkerRow] {
        try database.statement(WorkerColumns.selection).rows {
            _ in
        } read: {
            WorkerColumns.row($0, now: now)
        }
    }

    func forget(_ worker: WorkerSign) throws(StoreError) {
        try database.statement("DELETE FROM workers WHERE id = ?").run { $0.integer(worker.id) }
    }
}
