import Ledger

@testable import LedgerPostgres

extension PostgresConnection {
    /// The steps of the one plan that a prepared statement has for all values.
    func plan(of sql: String) throws -> [Substring] {
        let last = sql.split(separator: "$").compactMap { Int($0.prefix { $0.isNumber }) }.max() ?? 0
        let values = Array(repeating: "NULL", count: last).joined(separator: ", ")
        let name = prepared[sql] ?? "none"
        return try run(PostgresStatement("EXPLAIN EXECUTE \(name) (\(values))")).rows.map { row in
            row.text(0).drop { $0 == " " }
        }
    }
}
