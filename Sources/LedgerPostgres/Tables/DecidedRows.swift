import Contract
import Ledger

/// Statements that go through `grants` or `answers` by their places, within one transaction.
struct DecidedRows {
    let connection: PostgresConnection

    func span(of table: DecidedTable) throws(PostgresFailure) -> ClosedRange<Int64>? {
        let statement = PostgresStatement("SELECT min(sequence), max(sequence) FROM \(table.name)")
        guard let row = try connection.run(statement).first, let first = row.optionalInteger(0) else { return nil }
        return first...max(first, row.integer(1))
    }

    func first(in table: DecidedTable, _ places: ClosedRange<Int64>) throws(PostgresFailure) -> Timestamp? {
        let statement = PostgresStatement(
            """
            SELECT \(table.decidedAt) FROM \(table.name)
            WHERE sequence BETWEEN $1::bigint AND $2::bigint AND \(table.isDecidedHere) ORDER BY sequence LIMIT 1
            """
        ) {
            $0.integer(places.lowerBound)
            $0.integer(places.upperBound)
        }
        return try connection.run(statement).first?.time(0)
    }

    /// The plan depends on the values: an id finds its index, and all other queries read the rows of the places.
    func rows(_ query: DecidedQuery) throws(PostgresFailure) -> [DecidedRow] {
        guard let table = query.table else { return [] }
        let (sql, parameters) = Self.statement(query, of: table)
        try connection.run(PostgresStatement("SET LOCAL plan_cache_mode = force_custom_plan"))
        return try connection.run(PostgresStatement(sql, parameters)).rows.map { row in
            table == .grants ? GrantColumns.decided(row) : AnswerColumns.decided(row)
        }
    }

    static func statement(
        _ query: DecidedQuery, of table: DecidedTable
    ) -> (sql: String, parameters: PostgresParameters) {
        let name = table.name
        let areThere = "\(name).sequence BETWEEN $1::bigint AND $2::bigint"
        // Without statistics the planner expects few rows, and would read all of them to find a submission's.
        var conditions = [query.submissionID == nil ? areThere : "(\(areThere)) IS TRUE", query.isOfState]
        var parameters = PostgresParameters()
        parameters.integer(query.places.lowerBound)
        parameters.integer(query.places.upperBound)
        parameters.integer(query.limit)
        func add(_ condition: String, _ type: String, _ bind: (inout PostgresParameters) -> Void) {
            bind(&parameters)
            conditions.append(condition.replacing("?", with: "$\(parameters.count)::\(type)"))
        }
        if let app = query.bundleID {
            add("\(table == .grants ? "products" : name).app = ?", "text") { $0.text(app) }
        }
        if let user = query.userID { add(HashedIndex.condition("\(name).user_id", "?"), "text") { $0.text(user) } }
        if let submission = query.submissionID {
            add(HashedIndex.condition("\(name).submission_id", "?"), "text") { $0.text(submission) }
        }
        if let from = query.from { add("\(table.decidedAt) >= ?", "bigint") { $0.time(from) } }
        if let to = query.to { add("\(table.decidedAt) < ?", "bigint") { $0.time(to) } }
        let selection = table == .grants ? GrantColumns.selection : AnswerColumns.selection
        let sql = """
            \(selection) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(name).sequence LIMIT $3::bigint
            """
        return (sql, parameters)
    }
}
