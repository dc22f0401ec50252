/// A statement, and how its answer is read.
struct PostgresQuestion<Answer> {
    let statement: PostgresStatement
    let read: (PostgresResult) -> Answer

    init(_ statement: PostgresStatement, _ read: @escaping (PostgresResult) -> Answer) {
        (self.statement, self.read) = (statement, read)
    }
}

extension PostgresConnection {
    /// Asks several questions in one round trip.
    func ask<each Answer>(
        _ question: repeat PostgresQuestion<each Answer>
    ) throws(PostgresFailure) -> (repeat each Answer) {
        var statements: [PostgresStatement] = []
        for question in repeat each question { statements.append(question.statement) }
        let results = try run(statements)
        var next = 0
        func take() -> PostgresResult {
            defer { next += 1 }
            return results[next]
        }
        return (repeat (each question).read(take()))
    }
}
