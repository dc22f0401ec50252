import Contract
import Foundation
import Scheduling
import Testing

@testable import AppStore

@Suite("Requests to the App Store Server API")
struct ServerAPIRequestTests {
    @Test("each has Apple's path")
    func paths() {
        #expect(ServerAPIRequest.transaction("12").path == "/inApps/v1/transactions/12")
        #expect(
            ServerAPIRequest.history("12", product: nil, revision: nil).path == "/inApps/v2/history/12?sort=DESCENDING")
        #expect(
            ServerAPIRequest.history("12", product: "a.b c", revision: "x/&=é").path
                == "/inApps/v2/history/12?sort=DESCENDING&productId=a.b%20c&revision=x%2F%26%3D%C3%A9")
    }

    @Test("an id of Apple's is 1 to 20 digits", arguments: ["1", "2000000000000001", "12345678901234567890"])
    func ids(id: String) {
        #expect(TransactionID(id).isWellFormed)
    }

    @Test(
        "an id that is no id of Apple's leads nowhere",
        arguments: [
            "../../x", "1/../2", "1?a=b", "", "123456789012345678901", "1 ", "１２", "-1", "%31", "1\r\nHost: x", "1#",
            "٣", "0", "01",
        ])
    func injection(id: String) {
        let id = TransactionID(id)
        #expect(!id.isWellFormed)
        #expect(ServerAPIRequest.transaction(id).path == "/inApps/v1/transactions/0")
        #expect(
            ServerAPIRequest.history(id, product: nil, revision: nil).path == "/inApps/v2/history/0?sort=DESCENDING")
    }

    @Test("whatever a revision holds, it stays one value of the query", arguments: 0..<50 as Range<UInt64>)
    func encoding(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let scalars = (0..<40).compactMap { _ in Unicode.Scalar(UInt32.random(in: 0..<0x3000, using: &generator)) }
        let revision = String(String.UnicodeScalarView(scalars))
        let path = ServerAPIRequest.history("1", product: nil, revision: revision).path
        let value = path.dropFirst("/inApps/v2/history/1?sort=DESCENDING&revision=".count)
        #expect(value.utf8.allSatisfy { $0 == UInt8(ascii: "%") || $0 < 0x80 && !"&=#?/+ \r\n".utf8.contains($0) })
        #expect(value.removingPercentEncoding == revision)
    }
}

@Suite("Answers of the App Store Server API")
struct ServerAPIAnswersTests {
    @Test("a page is read with all that Apple puts into it, whatever else is there")
    func page() throws {
        let json = #"""
            {"appAppleId":1234567890,"bundleId":"com.example.game","environment":"Production","hasMore":true,
            "revision":"1718_2","signedTransactions":["a.b.c","d.e.f"],"somethingNew":{"x":[1]}}
            """#
        let page = try #require(HistoryReply(json: Array(json.utf8)))
        #expect(page.signedTransactions == ["a.b.c", "d.e.f"])
        #expect(page.revision == "1718_2")
        #expect(page.hasMore)
        #expect(page.bundleID == "com.example.game")
        #expect(page.environment == "Production")
    }

    @Test("scalars may be written otherwise, and what does not matter may be missing")
    func lenient() throws {
        let page = try #require(
            HistoryReply(json: Array(#"{"signedTransactions":[],"hasMore":"false","appAppleId":[]}"#.utf8)))
        #expect(!page.hasMore)
        #expect(page.revision == nil && page.bundleID == nil && page.environment == nil)
    }

    @Test("a page has a size")
    func limits() {
        func page(_ count: Int, revisionBytes: Int) -> HistoryReply? {
            let texts = Array(repeating: "\"x\"", count: count).joined(separator: ",")
            let revision = String(repeating: "r", count: revisionBytes)
            return HistoryReply(
                json: Array(#"{"signedTransactions":[\#(texts)],"hasMore":true,"revision":"\#(revision)"}"#.utf8))
        }
        #expect(page(HistoryReply.maxTransactions, revisionBytes: HistoryReply.maxRevisionBytes) != nil)
        #expect(page(HistoryReply.maxTransactions + 1, revisionBytes: 1) == nil)
        #expect(page(1, revisionBytes: HistoryReply.maxRevisionBytes + 1) == nil)
        #expect(page(1, revisionBytes: 1 << 20) == nil)
    }

    @Test("a transaction's answer is its text alone")
    func transaction() {
        let json = #"{"signedTransactionInfo":"a.b.c","other":1}"#
        #expect(TransactionReply(json: Array(json.utf8))?.signedTransactionInfo == "a.b.c")
        for body in ["", "{}", "[]", "null", #"{"signedTransactionInfo":null}"#, #"{"signedTransactionInfo":["a"]}"#] {
            #expect(TransactionReply(json: Array(body.utf8)) == nil)
        }
    }
}

@Suite("What an answer says of the key")
struct ServerAPIKeyCheckTests {
    private typealias Script = ServerAPIScript

    @Test("Apple's own word that nobody has the transaction proves the key")
    func accepted() {
        #expect(ServerAPIKeyCheck(Script.notFound) == .accepted)
        #expect(ServerAPIKeyCheck(Script.error(4_000_006)) == .accepted)
    }

    @Test("401 refuses it")
    func refused() {
        #expect(ServerAPIKeyCheck(Script.unauthenticated) == .refused)
    }

    @Test("nothing else proves it, whatever the status: a proxy's page, or an app that Apple does not know")
    func other() {
        #expect(ServerAPIKeyCheck(Script.reply(404, "<html>")) == .other(httpStatus: 404, code: nil))
        #expect(ServerAPIKeyCheck(Script.reply(400, "")) == .other(httpStatus: 400, code: nil))
        #expect(ServerAPIKeyCheck(Script.reply(200, "<html>")) == .other(httpStatus: 200, code: nil))
        #expect(ServerAPIKeyCheck(Script.error(4_040_003)) == .other(httpStatus: 404, code: 4_040_003))
        #expect(ServerAPIKeyCheck(Script.error(4_000_002)) == .other(httpStatus: 400, code: 4_000_002))
        #expect(ServerAPIKeyCheck(.failed(.tls)) == .failed(.tls))
    }
}
