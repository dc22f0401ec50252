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

    /// An insertion of rows, in their order. Existing rows stay.
    /// - Parameters:
    ///   - key: The columns that are unique. Any other conflict, such as of a number that is given again, is an error: it
    ///     must drop no row in silence.
    ///   - action: Instead of leaving them.
    func insertion(into table: String, key: String, orElse action: String = "NOTHING") -> String {
        """
        INSERT INTO \(table) (\(list)) SELECT \(list) FROM unnest(\(parameters)) AS given (\(list))
        ON CONFLICT (\(key)) DO \(action)
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
    /// Runs one statement in its own round trip.
    @discardableResult
    func run(_ statement: PostgresStatement) throws(PostgresFailure) -> PostgresResult { try run([statement])[0] }
}

extension PostgresParameters: RowWriter {}
extension PostgresColumns: RowWriter {}
extension PostgresRow: RowReader {}
