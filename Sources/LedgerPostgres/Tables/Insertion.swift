import Contract
import Ledger

extension WrittenColumns {
    /// An array parameter for each column: `$1::bigint[], $2::text[]`.
    var parameters: String { types.map { "\($0)[]" }.joined(separator: ", ") }

    /// A parameter for each column of one row: `$1::bigint, $2::text`.
    var values: String { types.joined(separator: ", ") }

    private var types: [String] {
        kinds.enumerated().map { place, kind in
            let type =
                switch kind {
                case .integer: "bigint"
                case .text: "text"
                case .blob: "bytea"
                }
            return "$\(place + 1)::\(type)"
        }
    }

    var elements: [PostgresColumn.Element] {
        kinds.map { kind in
            switch kind {
            case .integer: .integer
            case .text: .text
            case .blob: .blob
            }
        }
    }

    /// An insertion of rows, in their order, that leaves those which are there.
    /// - Parameter key: The columns that are unique. Any other conflict, such as of a number that is given again, is an
    ///   error: it must drop no row in silence.
    func insertion(into table: String, key: String) -> String {
        """
        INSERT INTO \(table) (\(list)) SELECT \(list) FROM unnest(\(parameters)) AS given (\(list))
        ON CONFLICT (\(key)) DO NOTHING
        """
    }
}

enum HashedIndex {
    /// A condition on a column of ids, by the index of their hashes.
    static func condition(_ column: String, _ value: String) -> String {
        "hashtextextended(\(column), 0) = hashtextextended(\(value), 0) AND \(column) = \(value)"
    }
}

extension PostgresConnection {
    /// A page of a query's rows, the newest first by the sequence of its table. Rows that are read as nil are left out.
    /// The plan goes by the values: a rare one finds its index, and a frequent one the newest rows.
    /// - Parameters:
    ///   - condition: Of all lists of the table.
    ///   - filters: Conditions, and the value of the parameter in each. One without a value is not part of the
    ///     statement, so that the others find their indexes.
    ///   - sequence: The column of the sequence.
    func page<Row>(
        _ selection: String, of table: String, where condition: String, before: Int64?, limit: Int,
        _ filters: [(String, value: String?)], sequence: Int32, read: (PostgresRow) -> Row?
    ) throws(PostgresFailure) -> [Row] {
        let filters = filters.filter { $0.value != nil }
        var conditions = ["\(table).sequence < $1::bigint", condition]
        for (index, filter) in filters.enumerated() {
            conditions.append(filter.0.replacing("?", with: "$\(index + 3)::text"))
        }
        let sql = """
            \(selection) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(table).sequence DESC
            LIMIT $2::bigint
            """
        _ = try run(PostgresStatement("SET LOCAL plan_cache_mode = force_custom_plan"))
        var rows: [Row] = []
        var before = before ?? .max
        // A page that is not full is the last one, so as many rows follow as were left out.
        while rows.count < limit {
            let asked = limit - rows.count
            let found = try run(
                PostgresStatement(sql) {
                    $0.integer(before)
                    $0.integer(asked)
                    for filter in filters { $0.text(filter.value) }
                }
            )
            rows += found.rows.compactMap(read)
            guard found.rowCount == asked, let last = found.rows.suffix(1).first else { break }
            before = last.integer(sequence)
        }
        return rows
    }
}

extension PostgresConnection {
    /// Runs one statement in its own round trip.
    func run(_ statement: PostgresStatement) throws(PostgresFailure) -> PostgresResult {
        let results = try run([statement])
        guard let result = results.first else { throw .lost("a statement has no result") }
        return result
    }
}

extension PostgresParameters: RowWriter {}
extension PostgresColumns: RowWriter {}
extension PostgresRow: RowReader {}
