import Contract
import Testing

@testable import AppStore

@Suite("Question for a history")
struct LookupHistoryTests {
    private typealias Script = LookupScript

    private func run(
        _ replies: [AppStoreReply], app: App = Fixture.app(), _ submission: Submission = Fixture.submission()
    ) throws -> QuestionScript {
        try QuestionScript(try Script.lookup(.history(of: customer), app: app, submission), replies)
    }

    /// Whose receipt names a transaction that is in most of the histories.
    private let customer = ProvenCustomer("9", of: "gems", bought: ["1"])

    private let start = "production /inApps/v2/history/9?sort=ASCENDING"

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
        #expect(run.calls.count == 2 * (LookupQuestion.maxRestarts + 1))
        #expect(run.verdict == .retry(.temporarilyUnable, notBefore: nil))
        #expect(try self.run([Script.error(4_000_005)]).verdict?.cause == .temporarilyUnable)
    }

    @Test("a history without an end is not followed for ever")
    func endless() throws {
        let pages = try (0..<LookupQuestion.maxPages + 1).map { try Script.page([], next: "r\($0)") }
        let long = try run(pages)
        #expect(long.calls.count == LookupQuestion.maxPages)
        #expect(long.verdict?.hold == .unknownAnswer)
        let standstill = try run([try Script.page([], next: "a"), try Script.page([], next: "a")])
        #expect(standstill.calls.count == 2)
        #expect(standstill.verdict?.hold == .unknownAnswer)
        let lost = Script.reply(200, #"{"signedTransactions":[],"hasMore":true}"#)
        #expect(try run([lost]).verdict?.hold == .unknownAnswer)
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
        #expect(run.calls == [start, "sandbox /inApps/v2/history/9?sort=ASCENDING"])
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
        // The receipt names no purchase of it: without the others nothing would tell whose history it is.
        #expect(try request(Fixture.submission(productID: "level")) == start)
    }

    @Test("a history that shares nothing with the receipt is another customer's, and grants nothing")
    func anotherCustomer() throws {
        let foreign = try Script.page([Script.transaction("2"), Script.transaction("3")])
        #expect(try run([foreign]).verdict?.hold == .unknownAnswer)
        // A renewal, or a restore, goes back to what the receipt names.
        let renewal = try Script.page([Script.transaction("2", ["originalTransactionId": "\"1\""])])
        #expect(try run([renewal]).verdict?.granted == ["2"])
        let own = [try Script.page([Script.transaction("2")], next: "a"), try Script.page([Script.transaction("9")])]
        #expect(try run(own).verdict?.granted == ["2", "9"])
        // Of which nobody can say whose it is.
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
        #expect(try run([nobodys]).verdict?.hold == .incompleteAnswer)
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
