/// A statement, and how its reply is read.
struct PostgresQuestion<Answer> {
    let statement: PostgresStatement
    let read: (PostgresResult) -> Answer

    init(_ statement: PostgresStatement, _ read: @escaping (PostgresResult) -> Answer) {
        (self.statement, self.read) = (statement, read)
    }
}

extension PostgresConnection {
    func ask<Answer>(_ question: PostgresQuestion<Answer>) throws(PostgresFailure) -> Answer {
        question.read(try run(question.statement))
    }
}
