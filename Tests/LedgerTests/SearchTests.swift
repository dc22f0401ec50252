import Contract
import Testing

@testable import Ledger

@Suite("A look for a word")
struct SearchTests {
    private static func row(
        _ sequence: Int64, _ id: SubmissionID, user: UserID = "u", order: OrderID? = nil, at milliseconds: Int64 = 0,
        transaction: TransactionID = "5", original: TransactionID? = nil, state: SubmissionState = .granted
    ) -> SubmissionRow {
        SubmissionRow(
            sequence: sequence, state: state,
            claimant: Claimant(
                submissionID: id, userID: user, bundleID: "app", orderID: order, traceparent: nil),
            origin: Origin(topic: "t", partition: 0, offset: sequence),
            decidedAt: Timestamp(milliseconds: milliseconds),
            transactionID: transaction, originalTransactionID: original ?? transaction, productID: nil, attempts: 1)
    }

    @Test("asks each state for each id that the word can be")
    func queries() {
        let search = Search("s-1", limit: 5)
        #expect(search.queries.count == 3 * SubmissionState.allCases.count)
        #expect(search.queries.allSatisfy { $0.limit == 6 && $0.transactionID == nil })
        let number = Search("00012", limit: 5)
        #expect(number.queries.compactMap(\.transactionID) == Array(repeating: "12", count: 5))
    }

    @Test("asks for no word that can be nobody's id", arguments: ["", "a\0b", String(repeating: "x", count: 513)])
    func refused(word: String) { #expect(Search(word, limit: 5).queries.isEmpty) }

    @Test("has each row once, the latest first, with all that the word is to it")
    func hits() {
        let search = Search("x", limit: 5)
        let (early, late) = (Self.row(1, "x", order: "x"), Self.row(2, "s", user: "x", at: 9))
        let result = search.result([[early], [late], [early]])
        #expect(result.hits.map(\.row) == [late, early])
        #expect(result.hits.map(\.meanings) == [[.user], [.submission, .order]])
        #expect(!result.hasMore)
    }

    @Test("has those that wait before all others, however old they are", arguments: [SubmissionState.held, .retrying])
    func waiting(state: SubmissionState) {
        let search = Search("u", limit: 2)
        let old = Self.row(1, "s", state: state)
        let result = search.result([[old], (2...4).map { Self.row($0, "s", at: $0) }])
        #expect(result.hits.map(\.row.sequence) == [1, 4] && result.hasMore)
    }

    @Test("tells a transaction from an original one")
    func transactions() {
        let search = Search("5", limit: 5)
        let rows = [Self.row(3, "a"), Self.row(2, "b", transaction: "6", original: "5")]
        #expect(search.result([rows]).hits.map(\.meanings) == [[.transaction], [.originalTransaction]])
    }

    @Test("has no more hits than its limit, and says that there are more")
    func bound() {
        let search = Search("u", limit: 2)
        let result = search.result([(1...3).map { Self.row($0, "s") }])
        #expect(result.hits.map(\.row.sequence) == [3, 2] && result.hasMore)
    }
}
