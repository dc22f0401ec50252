import Contract
import Testing

@testable import AppStore

@Suite("Answers of the App Store Server API")
struct ServerAPIAnswersTests {
    @Test("a page is read with all that Apple puts into it, whatever else is there")
    func page() throws {
        let json = #"""
            {"appAppleId":1234567890,"bundleId":"com.example.game","environment":"Production","hasMore":true,
            "revision":"1718_2","signedTransactions":["a.b.c","d.e.f"],"somethingNew":{"x":[1]}}
            """#
        let page = try #require(HistoryAnswer(json: Array(json.utf8)))
        #expect(page.signedTransactions == ["a.b.c", "d.e.f"])
        #expect(page.revision == "1718_2")
        #expect(page.hasMore)
        #expect(page.bundleID == "com.example.game")
        #expect(page.environment == "Production")
    }

    @Test("scalars may be written otherwise, and what does not matter may be missing")
    func lenient() throws {
        let page = try #require(
            HistoryAnswer(json: Array(#"{"signedTransactions":[],"hasMore":"false","appAppleId":[]}"#.utf8)))
        #expect(!page.hasMore)
        #expect(page.revision == nil && page.bundleID == nil && page.environment == nil)
    }

    @Test("a page has a size")
    func limits() {
        func page(_ count: Int, revisionBytes: Int) -> HistoryAnswer? {
            let texts = Array(repeating: "\"x\"", count: count).joined(separator: ",")
            let revision = String(repeating: "r", count: revisionBytes)
            return HistoryAnswer(
                json: Array(#"{"signedTransactions":[\#(texts)],"hasMore":true,"revision":"\#(revision)"}"#.utf8))
        }
        #expect(page(HistoryAnswer.maxTransactions, revisionBytes: HistoryAnswer.maxRevisionBytes) != nil)
        #expect(page(HistoryAnswer.maxTransactions + 1, revisionBytes: 1) == nil)
        #expect(page(1, revisionBytes: HistoryAnswer.maxRevisionBytes + 1) == nil)
        #expect(page(1, revisionBytes: 1 << 20) == nil)
    }

    @Test("a transaction's answer is its text alone")
    func transaction() {
        let json = #"{"signedTransactionInfo":"a.b.c","other":1}"#
        #expect(TransactionAnswer(json: Array(json.utf8))?.signedTransactionInfo == "a.b.c")
        for body in ["", "{}", "[]", "null", #"{"signedTransactionInfo":null}"#, #"{"signedTransactionInfo":["a"]}"#] {
            #expect(TransactionAnswer(json: Array(body.utf8)) == nil)
        }
    }
}
