import CLibpq
import Dispatch
import Foundation
import Synchronization

/// Multi-row inserts with all values in their text, made beforehand: the least that writing these rows costs.
///
/// Uses libpq itself, so that nothing of the ledger's driver is in what it is measured against.
struct BareInserts: Sendable {
    let url: String
    let concurrency: Int

    /// Reads a filled ledger's rows as statements, one transaction for each batch.
    func statements(from url: String, batch: Int) throws -> [String] {
        let connection = try Connection(url)
        let tables = ["submissions", "grants", "outbox"]
        let parts = try tables.map { table in
            // All columns by name but generated ones; only the outbox gives its sequences out itself.
            let row = table == "outbox" ? "to_jsonb(t)" : "to_jsonb(t) - 'sequence'"
            return try connection.texts(
                """
                SELECT 'INSERT INTO \(table) (' || min(names) || ') VALUES ' || string_agg('(' || texts || ')', ',')
                FROM (
                    SELECT place, string_agg(quote_ident(key), ',') AS names,
                        string_agg(quote_nullable(value), ',') AS texts
                    FROM (SELECT row_number() OVER (ORDER BY sequence) - 1 AS place, \(row) AS object FROM \(table) t) r,
                        jsonb_each_text(object)
                    GROUP BY place
                ) rows GROUP BY place / \(batch) ORDER BY place / \(batch)
                """)
        }
        return parts[0].indices.map { index in
            (["BEGIN"] + parts.map { $0[index] } + ["COMMIT"]).joined(separator: ";")
        }
    }

    /// - Returns: seconds.
    func run(_ statements: [String]) throws -> Double {
        let connections = try (0..<concurrency).map { _ in try Connection(url) }
        let failure = Mutex<(any Error)?>(nil)
        let clock = ContinuousClock()
        let duration = clock.measure {
            DispatchQueue.concurrentPerform(iterations: concurrency) { worker in
                for index in stride(from: worker, to: statements.count, by: concurrency) {
                    do {
                        try connections[worker].run(statements[index])
                    } catch {
                        failure.withLock { $0 = error }
                        return
                    }
                }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return duration / .seconds(1)
    }

    /// `@unchecked`: each is used by one thread at a time.
    private final class Connection: @unchecked Sendable {
        private let handle: OpaquePointer

        init(_ url: String) throws {
            guard let handle = PQconnectdb(url), PQstatus(handle) == CONNECTION_OK else {
                throw BenchFailure(description: "no connection for bare inserts")
            }
            self.handle = handle
        }

        deinit {
            PQfinish(handle)
        }

        func run(_ sql: String) throws {
            let result = PQexec(handle, sql)
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else {
                throw BenchFailure(description: String(cString: PQerrorMessage(handle)))
            }
        }

        func texts(_ sql: String) throws -> [String] {
            let result = PQexec(handle, sql)
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_TUPLES_OK else {
                throw BenchFailure(description: String(cString: PQerrorMessage(handle)))
            }
            return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
        }
    }
}
