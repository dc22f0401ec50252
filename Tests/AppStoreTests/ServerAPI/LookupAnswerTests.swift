import Contract
import Testing

@testable import AppStore

@Suite("Question of the App Store Server API: answers of every kind")
struct LookupAnswerTests {
    private typealias Script = LookupScript

    struct ErrorRow: Sendable {
        let code: Int
        var status: Int?
        var hold: HoldCause?
        var retry: RetryCause?
        var then: FailureReason?
        var calls = 1
    }

    @Test(
        "has one verdict for every error about an id that Apple has signed, and rejects none",
        arguments: [
            ErrorRow(code: 4_000_000, hold: .requestRefused), ErrorRow(code: 4_000_002, hold: .credentialsRefused),
            ErrorRow(code: 4_000_005, retry: .temporarilyUnable),
            ErrorRow(code: 4_000_006, hold: .unknownAnswer, calls: 2),
            ErrorRow(code: 4_000_008, hold: .unknownAnswer, calls: 2),
            ErrorRow(code: 4_000_017, retry: .temporarilyUnable), ErrorRow(code: 4_000_021, hold: .requestRefused),
            ErrorRow(code: 4_000_023, hold: .requestRefused), ErrorRow(code: 4_000_043, hold: .requestRefused),
            ErrorRow(code: 4_000_047, hold: .requestRefused),
            ErrorRow(code: 4_000_048, hold: .unknownAnswer, calls: 2),
            ErrorRow(code: 4_030_004, hold: .requestRefused),
            ErrorRow(code: 4_040_001, retry: .notFoundYet, then: .accountGone),
            ErrorRow(code: 4_040_002, retry: .temporarilyUnable), ErrorRow(code: 4_040_003, hold: .credentialsRefused),
            ErrorRow(code: 4_040_004, retry: .temporarilyUnable),
            ErrorRow(code: 4_040_005, retry: .notFoundYet, then: .transactionNotFound),
            ErrorRow(code: 4_040_006, retry: .temporarilyUnable),
            ErrorRow(code: 4_040_010, retry: .notFoundYet, then: .transactionNotFound),
            ErrorRow(code: 4_290_000, retry: .rateLimited), ErrorRow(code: 5_000_000, retry: .temporarilyUnable),
            ErrorRow(code: 5_000_001, retry: .temporarilyUnable), ErrorRow(code: 4_000_999, hold: .unknownAnswer),
            ErrorRow(code: 4_040_999, hold: .unknownAnswer), ErrorRow(code: 5_009_999, retry: .noAnswer),
            // A code and a status that do not go together: the status decides, and nothing is rejected.
            ErrorRow(code: 4_000_006, status: 503, retry: .noAnswer),
            ErrorRow(code: 4_000_006, status: 404, hold: .unknownAnswer),
            ErrorRow(code: 4_040_010, status: 429, retry: .rateLimited),
            ErrorRow(code: 4_040_010, status: 302, retry: .noAnswer),
            ErrorRow(code: 4_000_006, status: 200, retry: .noAnswer),
        ])
    func errors(row: ErrorRow) throws {
        let answer = Script.error(row.code, status: row.status)
        let run = try QuestionScript(
            try Script.lookup(.confirmation(Script.id, since: Fixture.now), in: .production), [answer, answer])
        let verdict = try #require(run.verdict)
        #expect(run.calls.count == row.calls)
        #expect(verdict.reason == nil)
        #expect(verdict.hold == row.hold)
        #expect(verdict.cause == row.retry)
        #expect(verdict.doubt?.becomes == row.then)
        #expect(verdict.granted.isEmpty)
    }

    @Test("what is no answer is tried again")
    func noAnswer() throws {
        let large = #"{"signedTransactionInfo":""# + String(repeating: "a", count: 1 << 20) + #""}"#
        let replies = [
            Script.reply(200, ""), Script.reply(200, "<html>"), Script.reply(200, "{"), Script.reply(200, "[]"),
            Script.reply(200, #"{"signedTransactionInfo":7}"#), Script.reply(200, #"{"other":"x"}"#),
            Script.reply(200, #"{"signedTransactionInfo":"abc"#), Script.reply(200, large), .failed(.tooLarge),
            Script.reply(301, ""), Script.reply(302, "<html>"), Script.reply(204, ""), Script.reply(100, ""),
            Script.reply(500, "<html>"), Script.reply(502, ""), Script.reply(503, "busy"), Script.reply(504, large),
        ]
        for reply in replies {
            #expect(try Script.verdict(on: reply) == .retry(.noAnswer, notBefore: nil))
        }
        for failure in TransportFailure.allCases where failure != .tooLarge {
            #expect(
                try Script.verdict(on: .failed(failure)) == .retry(.unreachable, notBefore: nil))
        }
    }

    @Test("an error without a code is not Apple's", arguments: [400, 403, 404, 405, 410, 451])
    func clientErrors(status: Int) throws {
        for body in ["", "<html>", "Not Found", "{}", #"{"errorCode":null}"#, #"{"errorCode":[4040010]}"#] {
            let verdict = try Script.verdict(on: Script.reply(status, body))
            #expect(verdict == .retry(.noAnswer, notBefore: nil))
        }
    }

    @Test("a code is read as a number or as a text")
    func codeAsText() throws {
        let answer = Script.reply(404, #"{"errorCode":"4040001"}"#)
        #expect(try Script.verdict(on: answer)?.doubt?.becomes == .accountGone)
    }

    @Test("is not asked again before Apple says so")
    func retryAfter() throws {
        let later = Fixture.now.advanced(by: .seconds(60))
        let header = String(later.milliseconds)
        let limited = Script.reply(429, #"{"errorCode":4290000}"#, retryAfter: header)
        #expect(try Script.verdict(on: limited) == .retry(.rateLimited, notBefore: later))
        let busy = Script.reply(503, "", retryAfter: header)
        #expect(try Script.verdict(on: busy) == .retry(.noAnswer, notBefore: later))
    }

    @Test("an answer that is not Apple's word about this transaction neither grants nor fails")
    func strangers() throws {
        let foreign = try SignedToken(chain: ChainBuilder()).text()
        let genuine = try SignedToken([:]).text()
        let answers = [
            Script.reply(200, #"{"signedTransactionInfo":"\#(foreign)"}"#),
            Script.reply(200, #"{"signedTransactionInfo":"e30.e30.AAAA"}"#),
            Script.reply(200, #"{"signedTransactionInfo":""}"#),
            Script.reply(200, #"{"signedTransactionInfo":"\#(genuine.dropLast(4))AAAA"}"#),
            try Script.found(["transactionId": "\"2000000000000002\""]), try Script.foundInSandbox(),
            try Script.found(["environment": "\"Moon\""]), try Script.found(["environment": "\"Xcode\""]),
            try Script.found(["transactionId": nil]),
        ]
        for answer in answers { #expect(try Script.verdict(on: answer)?.hold == .unknownAnswer) }
    }

    @Test("what Apple signed and left out is for a person")
    func incomplete() throws {
        for changes in [["bundleId": nil], ["revocationDate": "\"soon\""], ["productId": nil], ["environment": nil]]
            as [[String: String?]]
        {
            #expect(try Script.verdict(on: try Script.found(changes))?.hold == .incompleteAnswer)
        }
    }
}
