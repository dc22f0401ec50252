import Purchases
import Testing

@testable import AppStore

@Suite("Transaction lookup")
struct TransactionLookupTests {
    private typealias Script = LookupScript

    @Test("asks production, verifies the answer and grants what is in it")
    func foundInProduction() throws {
        let run = Script.run(try Script.lookup(), [try Script.found()])
        #expect(run.calls == ["production \(Script.path)"])
        guard case .verified(let purchases, .serverAPI) = run.verdict else {
            Issue.record("not verified: \(String(describing: run.verdict))")
            return
        }
        #expect(purchases.map(\.purchase.transactionID) == [Script.id])
    }

    @Test("what production does not have the sandbox is asked for, once, whatever the message says of the environment")
    func sandbox() throws {
        for hint in [nil, Environment.production, .sandbox] {
            let lookup = try Script.lookup(.transaction(Script.id), Fixture.submission(environment: hint))
            let found = Script.run(lookup, [Script.notFound, try Script.foundInSandbox()])
            #expect(found.calls == ["production \(Script.path)", "sandbox \(Script.path)"])
            #expect(found.verdict?.granted == [Script.id])
            let missing = Script.run(lookup, [Script.notFound, Script.notFound])
            #expect(missing.calls.count == 2)
            #expect(missing.verdict?.retry?.cause == .notFoundYet)
            #expect(missing.verdict?.retry?.then == .transactionNotFound)
        }
    }

    @Test("the sandbox is not asked where the app would not grant what it knows; production may still find it")
    func sandboxNotAllowed() throws {
        for policy in [SandboxPolicy.reject, .users(["somebody-else"])] {
            let run = Script.run(try Script.lookup(app: Fixture.app(sandbox: policy)), [Script.notFound])
            #expect(run.calls == ["production \(Script.path)"])
            #expect(run.verdict?.retry?.cause == .notFoundYet)
            #expect(run.verdict?.retry?.then == .transactionNotFound)
        }
        let listed = try Script.lookup(app: Fixture.app(sandbox: .users(["player-1"])))
        #expect(Script.run(listed, [Script.notFound, try Script.foundInSandbox()]).verdict?.granted == [Script.id])
    }

    @Test("a confirmation asks the one environment that the signature named", arguments: Environment.allCases)
    func confirmation(environment: Environment) throws {
        let lookup = try Script.lookup(.confirmation(Script.id, environment, since: Fixture.now))
        let missing = Script.run(lookup, [Script.notFound])
        #expect(missing.calls == ["\(environment.rawValue) \(Script.path)"])
        #expect(missing.verdict?.retry?.then == .transactionNotFound)
        let answer = try Script.found(["environment": "\"\(environment.nameInAnswers)\""])
        #expect(Script.run(lookup, [answer]).verdict?.granted == [Script.id])
        let refunded = try Script.found([
            "environment": "\"\(environment.nameInAnswers)\"", "revocationDate": SignedToken.moment(-1),
        ])
        #expect(Script.run(lookup, [refunded]).verdict?.reason == .transactionRevoked)
    }

    @Test("an answer that was signed before what it is to confirm is not Apple's to this question, and grants nothing")
    func olderConfirmation() throws {
        let lookup = try Script.lookup(.confirmation(Script.id, .production, since: Fixture.now))
        let older = try Script.found(["signedDate": SignedToken.moment(-1)])
        #expect(Script.run(lookup, [older]).verdict?.hold == .unknownAnswer)
    }

    @Test("an id that Apple never gave out is refused when Apple has said so over a fresh connection, too")
    func invalidID() throws {
        let invalid = Script.error(4_000_006)
        let run = Script.run(try Script.lookup(), [invalid, invalid])
        #expect(run.calls == ["production \(Script.path)", "production \(Script.path) over a fresh connection"])
        #expect(run.verdict?.reason == .transactionNotFound)
        // The answer was somebody else's.
        #expect(Script.run(try Script.lookup(), [invalid, try Script.found()]).verdict?.granted == [Script.id])
    }

    @Test("an id that Apple signed before is never refused for good: a person must look")
    func invalidSignedID() throws {
        let invalid = Script.error(4_000_006)
        for question: TransactionLookup.Question in [
            .confirmation(Script.id, .production, since: Fixture.now), .history(of: ProvenCustomer(Script.id)),
        ] {
            let run = Script.run(try Script.lookup(question), [invalid, invalid])
            #expect(run.calls.count == 2)
            #expect(run.verdict?.hold == .unknownAnswer)
        }
    }

    @Test("an id that is none of Apple's is not asked for", arguments: ["", "../../x", "1?a=b", "-1", "１２", "1 "])
    func notAnID(id: String) throws {
        let run = Script.run(try Script.lookup(.transaction(TransactionID(id))), [])
        #expect(run.calls.isEmpty)
        #expect(run.verdict?.reason == .transactionNotFound)
    }

    @Test("an id with zeros in front is the player's fault and not Apple's")
    func leadingZeros() throws {
        let id: TransactionID = "0002000000000001"
        let verdict = Script.run(
            try Script.lookup(.transaction(id), Fixture.submission(transactionID: id)),
            [try Script.found(["transactionId": "\"2000000000001\""])]
        ).verdict
        #expect(verdict?.reason == .transactionNotFound)
    }

    @Test("another app's transaction is refused")
    func otherApp() throws {
        let verdict = try Script.verdict(on: try Script.found(["bundleId": "\"com.example.other\""]))
        #expect(verdict?.reason == .bundleMismatch)
    }

    @Test("a step that is due is repeated until it is answered, and a verdict for ever")
    func repetition() throws {
        var lookup = try Script.lookup()
        #expect(lookup.answered(Script.notFound, now: Fixture.now) == lookup.start())
        let verdict = lookup.answered(try Script.found(), now: Fixture.now)
        #expect(lookup.start() == verdict)
        #expect(lookup.answered(Script.notFound, now: Fixture.now) == verdict)
    }

    @Test("an answer signed ahead of our clock is tried again when its moment has come")
    func signedAhead() throws {
        let verdict = try Script.verdict(on: try Script.found(["signedDate": SignedToken.moment(600)]))
        #expect(
            verdict
                == .retry(.signedAhead, notBefore: Fixture.now.advanced(by: .seconds(300)), patience: .unlimited))
    }

    @Test("always ends, after a bounded number of calls, whatever Apple answers", arguments: 0..<200 as Range<UInt64>)
    func ends(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let fixed = [
            Script.notFound, Script.unauthenticated, Script.error(4_000_005), Script.error(4_000_006),
            Script.error(4_000_017),
            Script.error(5_000_000), try Script.found(), Script.reply(200, "{}"), .failed(.timedOut),
        ]
        let questions: [TransactionLookup.Question] = [
            .transaction(Script.id), .confirmation(Script.id, .production, since: Fixture.now),
            .history(of: ProvenCustomer(Script.id)),
            .history(of: ProvenCustomer(Script.id)),
        ]
        let replies = try (0..<1000).map { number in
            // Mostly pages: everything else ends a try soon.
            Int.random(in: 0..<40, using: &generator) > 0
                ? try Script.page([], next: "r\(Int.random(in: 0...number, using: &generator))", more: "")
                : fixed[Int.random(in: 0..<fixed.count, using: &generator)]
        }
        let question = questions[Int.random(in: 0..<questions.count, using: &generator)]
        let run = Script.run(try Script.lookup(question), replies)
        #expect(run.verdict != nil)
        #expect(run.calls.count <= TransactionLookup.maxCalls)
        // Once in the sandbox, production is not asked again, and one fresh token is all there is.
        let environments = run.calls.map { $0.hasPrefix("production") }
        #expect(environments == environments.sorted { $0 && !$1 })
        #expect(run.calls.count { $0.contains("fresh token") } <= 1)
        let doubted = run.calls.count { $0.hasSuffix("fresh connection") && !$0.contains("revision=") }
        #expect(doubted <= 1)
    }
}
