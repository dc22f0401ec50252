import Contract
import Ledger

/// `workers`: the signs of life of workers.
struct WorkerTable {
    let connection: PostgresConnection

    /// Takes a worker's sign, and forgets workers that have been gone for long.
    /// - Returns: How many workers live.
    func sign(of worker: WorkerSign, now: Timestamp) throws(PostgresFailure) -> Int {
        let results = try connection.run([
            PostgresStatement(
                """
                INSERT INTO workers (\(WorkerColumns.written.list)) VALUES (\(WorkerColumns.written.values))
                ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
                """
            ) { WorkerColumns.write(worker, now: now, to: &$0) },
            // Two workers that forget the same ones must not wait for each other.
            PostgresStatement(
                """
                DELETE FROM workers WHERE id IN (
                    SELECT id FROM workers WHERE seen_at < $1::bigint ORDER BY id FOR UPDATE SKIP LOCKED)
                """
            ) { $0.integer(now.milliseconds - WorkerSign.keptFor) },
            PostgresStatement("SELECT count(*) FROM workers WHERE seen_at BETWEEN $1::bigint AND $2::bigint") {
                $0.integer(WorkerSign.living(at: now).lowerBound)
                $0.integer(WorkerSign.living(at: now).upperBound)
            },
        ])
        return results[2].first?.int(0) ?? 0
    }

    func all(now: Timestamp) throws(PostgresFailure) -> [WorkerRow] {
        try connection.run(PostgresStatement(WorkerColumns.selection)).rows.map { WorkerColumns.row($0, now: now) }
    }

    func forget(_ worker: WorkerSign) throws(PostgresFailure) {
        try connection.run(
            PostgresStatement("DELETE FROM workers WHERE id = $1::bigint") { $0.integer(worker.id) })
    }
}
