/// The conditions of a page: only those that narrow are part of the statement, so that each finds its index.
struct PageConditions {
    private var conditions = ["sequence < $1::bigint"]
    private var parameters: [PostgresValue]

    /// All rows before a sequence.
    init(before: Int64?, limit: Int) {
        parameters = [.integer(before ?? .max), .integer(Int64(limit))]
    }

    /// Narrows to rows of a value, if there is one.
    ///
    /// - Parameter condition: SQL with `$` wherever the value stands.
    mutating func add(_ condition: String, _ value: String?) {
        guard let value else { return }
        parameters.append(.text(value))
        conditions.append(condition.replacing("$", with: "$\(parameters.count)::text"))
    }

    /// Narrows without a value.
    mutating func add(_ condition: String) {
        conditions.append(condition)
    }

    /// The statement that reads the page, newest rows first.
    func command(_ selection: String) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: """
                    \(selection)
                    WHERE \(conditions.joined(separator: " AND "))
                    ORDER BY sequence DESC LIMIT $2::bigint
                    """), parameters)
    }
}
