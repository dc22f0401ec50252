import Contract
import Ledger

/// Statements that go through `grants` or `answers` by their places, within one transaction.
struct DecidedRows {
    let database: Database

    func span(of table: DecidedTable) throws(StoreError) -> ClosedRange<Int64>? {
        // One at a time: SQLite finds the end of an index for a single minimum or maximum alone.
        try database.statement(
            "SELECT (SELECT min(sequence) FROM \(table.name)), (SELECT max(sequence) FROM \(table.name))"
        ).first { _ in
        } read: { row in
            row.optionalInteger(0).map { $0...max($0, row.integer(1)) }
        } ?? nil
    }

    func first(in table: DecidedTable, _ places: ClosedRange<Int64>) throws(StoreError) -> Timestamp? {
        try database.statement(
            """
            SELECT \(table.decidedAt) FROM \(table.name)
            WHERE sequence BETWEEN ? AND ? AND \(table.isDecidedHere) ORDER BY sequence LIMIT 1
            """
        ).first {
            $0.integer(places.lowerBound)
            $0.integer(places.upperBound)
        } read: {
            $0.time(0)
        }
    }

    func rows(_ query: DecidedQuery) throws(StoreError) -> [DecidedRow] {
        guard let table = query.table else { return [] }
        let name = table.name
        var conditions = ["\(name).sequence BETWEEN ? AND ?", query.isOfState]
        var values = Binder()
        values.integer(query.places.lowerBound)
        values.integer(query.places.upperBound)
        if let app = query.bundleID {
            conditions.append("\(table == .grants ? "products" : name).app = ?")
            values.text(app)
        }
        if let user = query.userID {
            conditions.append("\(name).user_id = ?")
            values.text(user)
        }
        if let submission = query.submissionID {
            conditions.append("\(name).submission_id = ?")
            values.text(submission)
        }
        if let from = query.from {
            conditions.append("\(table.decidedAt) >= ?")
            values.time(from)
        }
        if let to = query.to {
            conditions.append("\(table.decidedAt) < ?")
            values.time(to)
        }
        values.integer(query.limit)
        let selection = table == .grants ? GrantColumns.selection : AnswerColumns.selection
        let sql = "\(selection) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(name).sequence LIMIT ?"
        return try database.statement(sql).rows {
            $0 = values
        } read: { row in
            table == .grants ? GrantColumns.decided(row) : AnswerColumns.decided(row)
        }
    }
}
