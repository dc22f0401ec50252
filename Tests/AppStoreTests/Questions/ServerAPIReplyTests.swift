import Contract
import Testing

@testable import AppStore

@Suite("Question of the App Store Server API: answers of every kind")
struct ServerAPIReplyTests {
    private typealias Script = ServerAPIScript

    struct ErrorRow: Sendable {
        let code: Int
        var status: Int?
        var hold: HoldCause?
        var retry: RetryCause?
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
            ErrorRow(code: 4_040_001, retry: .noLongerFound),
            ErrorRow(code: 4_040_002, retry: .temporarilyUnable), ErrorRow(code: 4_040_003, hold: .credentialsRefused),
            ErrorRow(code: 4_040_004, retry: .temporarilyUnable),
            ErrorRow(code: 4_040_005, retry: .noLongerFound),
            ErrorRow(code: 4_040_006, retry: .temporarilyUnable),
            ErrorRow(code: 4_040_010, retry: .noLongerFound),
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
            try Script.question(.confirmation(Script.id, since: Fixture.now), in: .production), [answer, answer])
        let verdict = try #require(run.verdict)
        #expect(run.calls.count == row.calls)
        #expect(verdict.reason == nil)
        #expect(verdict.hold == row.hold)
        #expect(verdict.cause == row.retry)
        #expect(verdict.doubt == nil)
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
        for changes in [["revocationDate": "\"soon\""], ["productId": nil], ["environment": nil]]
            as [[String: String?]]
        {
            #expect(try Script.verdict(on: try Script.found(changes))?.hold == .incompleteAnswer)
        }
    }

    @Test("a transaction that names no app is the app's whose key asked for it")
    func nobodys() throws {
        #expect(try Script.verdict(on: try Script.found(["bundleId": nil]))?.granted == [Script.id])
    }
}

@Suite("Question for a history")
struct ServerAPIHistoryTests {
    private typealias Script = ServerAPIScript

    private func run(
        _ replies: [AppStoreReply], app: App = Fixture.app(), _ submission: Submission = Fixture.submission()
    ) throws -> QuestionScript {
        try QuestionScript(try Script.question(.history(of: customer), app: app, submission), replies)
    }

    /// Whose receipt names a transaction that is in most of the histories.
    private let customer = ProvenCustomer("9", of: "gems", purchases: [ProvenPurchase("1", of: "gems")])

    private let start = "production /inApps/v2/history/9?sort=DESCENDING"

    @Test("is read to its end, and begun again if it changes meanwhile; no later page can be another customer's")
    func restart() throws {
        for change in [4_000_005, 4_000_014, 4_000_017] {
            let first = try Script.page([Script.transaction("1"), Script.transaction("2")], next: "r&1")
            let run = try run([first, Script.error(change), first, try Script.page([Script.transaction("3")])])
            let next = start + "&revision=r%261 over a fresh connection"
            #expect(run.calls == [start, next, start, next])
            #expect(run.verdict?.granted == ["1", "2", "3"])
        }
    }

    @Test("a history that never stays as it is, is tried again later")
    func restless() throws {
        let first = try Script.page([], next: "a")
        let run = try run(Array(repeating: [first, Script.error(4_000_005)], count: 5).flatMap { $0 })
        #expect(run.calls.count == 2 * (ServerAPIQuestion.maxRestarts + 1))
        #expect(run.verdict == .retry(.temporarilyUnable, notBefore: nil))
        #expect(try self.run([Script.error(4_000_005)]).verdict?.cause == .temporarilyUnable)
    }

    @Test("a history without an end is not followed for ever")
    func endless() throws {
        let pages = try (0..<ServerAPIQuestion.maxPages + 1).map { try Script.page([], next: "r\($0)") }
        let long = try run(pages)
        #expect(long.calls.count == ServerAPIQuestion.maxPages)
        #expect(long.verdict?.hold == .unknownAnswer)
        let standstill = try run([try Script.page([], next: "a"), try Script.page([], next: "a")])
        #expect(standstill.calls.count == 2)
        #expect(standstill.verdict?.hold == .unknownAnswer)
        let lost = Script.reply(200, #"{"signedTransactions":[],"hasMore":true}"#)
        #expect(try run([lost]).verdict?.hold == .unknownAnswer)
    }

    @Test("a history with more pages than are read counts by its latest changes, which come first")
    func long() throws {
        let newest = try Script.page([Script.transaction("3")], next: "r0")
        let older = try (1..<ServerAPIQuestion.maxPages).map {
            try Script.page($0 == 1 ? [Script.transaction("1")] : [], next: "r\($0)")
        }
        #expect(try run([newest] + older, Fixture.submission(transactionID: "3")).verdict?.granted == ["3"])
        #expect(try run([newest] + older).verdict?.granted == ["1", "3"])
        // Apple has not said that it has none of these.
        #expect(try run([newest] + older, Fixture.submission(transactionID: "4")).verdict?.hold == .unknownAnswer)
        let proving = ProvenCustomer(
            "9", of: "gems", purchases: [ProvenPurchase("1", of: "gems"), ProvenPurchase("2", of: "gems")])
        let run = try QuestionScript(try Script.question(.history(of: proving)), [newest] + older)
        #expect(run.verdict?.hold == .unknownAnswer)
    }

    @Test("a history that is begun again is read as far as any other")
    func restartOfALongOne() throws {
        let half = try (0..<ServerAPIQuestion.maxPages / 2).map { try Script.page([], next: "r\($0)") }
        let last = try Script.page([Script.transaction("1")])
        #expect(try run(half + [Script.error(4_000_005)] + half + [last]).verdict?.granted == ["1"])
    }

    @Test("a purchase that the receipt proves and the history lacks is a doubt; the others are granted at its end")
    func incomplete() throws {
        let customer = ProvenCustomer(
            "1", purchases: [ProvenPurchase("1", of: "gems"), ProvenPurchase("2", of: "gold")])
        func verdict(_ ids: [String], _ submission: Submission = Fixture.submission()) throws -> Verdict? {
            try QuestionScript(
                try Script.question(.history(of: customer), submission),
                [try Script.page(ids.map { Script.transaction($0) })]
            ).verdict
        }
        #expect(try verdict(["1"])?.cause == .notFoundYet)
        #expect(try verdict(["1"])?.grantedInTheEnd == ["1"])
        #expect(try verdict(["1", "2"])?.granted == ["1", "2"])
        let product = try #require(try verdict(["1"])?.purchasesInTheEnd.first?.purchase.productID)
        #expect(
            try verdict(["1"], Fixture.submission(productID: product))?.granted == ["1"], "gold is not claimed")
    }

    @Test("a refusal waits as long for a purchase that the history lacks")
    func incompleteRefusal() throws {
        let customer = ProvenCustomer("1", purchases: [ProvenPurchase("1", of: nil), ProvenPurchase("2", of: nil)])
        let refund = Script.transaction("1", ["revocationDate": SignedToken.moment(-1)])
        let run = try QuestionScript(try Script.question(.history(of: customer)), [try Script.page([refund])])
        #expect(run.verdict?.doubt?.becomes == .transactionRevoked)
    }

    @Test("a hold of such a history names nothing, so that no grant of what it has ends the wait for the rest")
    func incompleteHold() throws {
        let unlisted = Script.transaction("1", ["productId": "\"new\""])
        func verdict(_ pages: [[String: String?]]) throws -> Verdict? {
            let customer = ProvenCustomer("1", purchases: [ProvenPurchase("1", of: nil), ProvenPurchase("2", of: nil)])
            return try QuestionScript(try Script.question(.history(of: customer)), [try Script.page(pages)]).verdict
        }
        let incomplete = try verdict([unlisted])
        #expect(incomplete?.hold == .productNotConfigured && incomplete?.purchases.isEmpty == true)
        let other = Script.transaction("2", ["productId": "\"new\""])
        #expect(try verdict([unlisted, other])?.purchases.count == 2)
    }

    @Test("a transaction that is sent again is what it was last: a refund in between counts")
    func sentAgain() throws {
        let refund = Script.transaction(
            "1", ["revocationDate": SignedToken.moment(-1), "signedDate": SignedToken.moment(1)])
        for order in [[Script.transaction("1"), refund], [refund, Script.transaction("1")]] {
            let pages = [try Script.page([order[0]], next: "a"), try Script.page([order[1]])]
            #expect(try run(pages).verdict?.reason == .transactionRevoked)
        }
    }

    @Test("the sandbox is asked from the beginning if production does not have the customer")
    func sandbox() throws {
        let page = try Script.page(
            [Script.transaction("1", ["environment": "\"Sandbox\""])], more: #","environment":"Sandbox""#)
        let run = try run([Script.notFound, page])
        #expect(run.calls == [start, "sandbox /inApps/v2/history/9?sort=DESCENDING"])
        #expect(run.verdict?.granted == ["1"])
    }

    @Test("a customer who is gone between two pages is asked for again later, not in the sandbox")
    func goneBetween() throws {
        let run = try run([try Script.page([], next: "a"), Script.notFound])
        #expect(run.calls.count == 2)
        #expect(run.verdict == .retry(.temporarilyUnable, notBefore: nil))
    }

    @Test("pages of other products are spared only for a product of the catalogue, and no claimed transaction")
    func filter() throws {
        func request(_ submission: Submission, app: App = Fixture.app()) throws -> String? {
            try run([], app: app, submission).calls.first
        }
        #expect(try request(Fixture.submission(productID: "gems")) == start + "&productId=gems")
        #expect(try request(Fixture.submission(productID: "no such product")) == start)
        #expect(try request(Fixture.submission(transactionID: "1", productID: "gems")) == start)
        #expect(try request(Fixture.submission(productID: "gems"), app: Fixture.app(products: .any)) == start)
        // The receipt names no purchase of it: without the others nothing would show whose history it is.
        #expect(try request(Fixture.submission(productID: "level")) == start)
    }

    @Test("a history that shares nothing with the receipt is another customer's, and grants nothing")
    func anotherCustomer() throws {
        let foreign = try Script.page([Script.transaction("2"), Script.transaction("3")])
        #expect(try run([foreign]).verdict?.hold == .unknownAnswer)
        // A renewal, or a restore, goes back to a purchase that the receipt names.
        let renewal = try Script.page([Script.transaction("2", ["originalTransactionId": "\"1\""])])
        #expect(try run([renewal]).verdict?.grantedInTheEnd == ["2"])
        let own = [try Script.page([Script.transaction("2")], next: "a"), try Script.page([Script.transaction("9")])]
        #expect(try run(own).verdict?.grantedInTheEnd == ["2", "9"])
        // Nobody can say whose it is.
        let empty = try run([try Script.page([])]).verdict
        #expect(empty != nil && empty?.hold == nil)
    }

    @Test("what is of another app or environment, or not Apple's, neither grants nor fails")
    func foreign() throws {
        let own = Script.transaction("1")
        let pages = [
            try Script.page([own], more: #","environment":"Sandbox""#),
            try Script.page([own], more: #","bundleId":"com.example.other""#),
            try Script.page([own, Script.transaction("2", ["environment": "\"Sandbox\""])]),
            try Script.page([own, Script.transaction("2", ["bundleId": "\"com.example.other\""])]),
            Script.reply(200, #"{"signedTransactions":["e30.e30.AAAA"],"hasMore":false}"#),
        ]
        for page in pages { #expect(try run([page]).verdict?.hold == .unknownAnswer) }
        let nobodys = try Script.page([Script.transaction("1", ["bundleId": nil])])
        #expect(try run([nobodys]).verdict?.granted == ["1"], "Apple answers a key for its app alone")
    }

    @Test("what is no page is not read as one without purchases")
    func notAPage() throws {
        let bodies = [
            "{}", "[]", "<html>", "", #"{"signedTransactions":null,"hasMore":false}"#, #"{"signedTransactions":[]}"#,
            #"{"hasMore":false}"#, #"{"signedTransactions":[1],"hasMore":false}"#,
            #"{"signedTransactions":[],"hasMore":"perhaps"}"#, #"{"signedTransactions":[],"hasMore":false"#,
        ]
        for body in bodies {
            #expect(
                try run([Script.reply(200, body)]).verdict == .retry(.noAnswer, notBefore: nil), "\(body)")
        }
    }
}
