import Scheduling

/// Rows of `retries` whose check may end workers. Each is taken alone, and checked behind its mark.
struct SuspectRows {
    /// Rows in their first check. No row is taken, and no row or record is marked, meanwhile: so it is known which one
    /// ended a worker.
    var inFirstCheck = 0
    /// The row that is marked.
    var marked: SubmissionToken?
    /// Rows that wait for their mark.
    private var again = FIFO<SubmissionToken>()

    var isEmpty: Bool { again.isEmpty }

    func isInCheck(in flights: Flights) -> Bool { inFirstCheck > 0 || marked.map(flights.isInCheck) ?? false }

    mutating func checkAgain(_ token: SubmissionToken) { again.append(token) }

    /// Marks the next row that waits for that.
    mutating func markNext(in flights: Flights) -> SubmissionToken? {
        while let token = again.popFirst() {
            guard flights.isAwaitingMark(token) else { continue }
            marked = token
            return token
        }
        return nil
    }

    /// The check of a row has ended.
    /// - Returns: whether it was the marked one.
    mutating func ended(_ token: SubmissionToken, in flights: Flights) -> Bool {
        guard marked == token, !flights.isInCheck(token) else { return false }
        marked = nil
        return true
    }
}
