/// A statement with a name under which a connection keeps it prepared.
struct PostgresStatement: Hashable, Sendable {
    /// Empty for a statement that is not kept.
    let name: String
    let sql: String

    /// A statement that every connection prepares once.
    init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }

    /// A statement that is parsed each time: for questions that people ask.
    init(once sql: String) {
        self.init("", sql)
    }

    static let begin = PostgresStatement("begin", "BEGIN")
    static let commit = PostgresStatement("commit", "COMMIT")
    static let rollback = PostgresStatement("rollback", "ROLLBACK")
}

/// A statement with the values of its parameters.
struct PostgresCommand: Sendable {
    let statement: PostgresStatement
    let parameters: [PostgresValue]

    /// A statement on its way to the server.
    init(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) {
        self.statement = statement
        self.parameters = parameters
    }
}
