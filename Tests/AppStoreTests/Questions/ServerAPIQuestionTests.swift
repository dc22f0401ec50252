import Contract
import Scheduling
import Testing

@testable import AppStore

@Suite("Question of the App Store Server API")
struct ServerAPIQuestionTests {
    private typealias Script = ServerAPIScript

    @Test("asks production, verifies the answer and grants what is in it")
    func foundInProduction() throws {
        let run = try QuestionScript(try Script.question(), [try Script.found()])
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
            let question = try Script.question(.transaction(Script.id), Fixture.submission(environment: hint))
            let found = try QuestionScript(question, [Script.notFound, try Script.foundInSandbox()])
            #expect(found.calls == ["production \(Script.path)", "sandbox \(Script.path)"])
            #expect(found.verdict?.granted == [Script.id])
            let missing = try QuestionScript(question, [Script.notFound, Script.notFound])
            #expect(missing.calls.count == 2)
            #expect(missing.verdict?.doubt?.cause == .notFoundYet)
            #expect(missing.verdict?.doubt?.becomes == .transactionNotFound)
        }
    }

    @Test("the sandbox is not asked where the app would not grant what it knows; production may still find it")
    func sandboxNotAllowed() throws {
        for policy in [SandboxPolicy.reject, .users(["somebody-else"])] {
            let run = try QuestionScript(try Script.question(app: Fixture.app(sandbox: policy)), [Script.notFound])
            #expect(run.calls == ["production \(Script.path)"])
            #expect(run.verdict?.doubt?.cause == .notFoundYet)
            #expect(run.verdict?.doubt?.becomes == .transactionNotFound)
        }
        let listed = try Script.question(app: Fixture.app(sandbox: .users(["player-1"])))
        #expect(
            try QuestionScript(listed, [Script.notFound, try Script.foundInSandbox()]).verdict?.granted == [Script.id])
    }

    private func named(_ environment: Environment) -> NamedPurchase {
        NamedPurchase(Script.id, of: "-", GrantKey(environment: environment, name: "t:\(Script.id)"))
    }

    @Test("a confirmation asks the one environment that the signature named", arguments: Environment.allCases)
    func confirmation(environment: Environment) throws {
        let question = try Script.question(.confirmation(Script.id, since: Fixture.now), in: environment)
        let missing = try QuestionScript(question, [Script.notFound])
        #expect(missing.calls == ["\(environment.rawValue) \(Script.path)"])
        #expect(missing.verdict == .contradicted(named(environment)), "Apple signed it, and one word is wrong")
        let answer = try Script.found(["environment": "\"\(environment.nameInAnswers)\""])
        #expect(try QuestionScript(question, [answer]).verdict?.granted == [Script.id])
        let refunded = try Script.found([
            "environment": "\"\(environment.nameInAnswers)\"", "revocationDate": SignedToken.moment(-1),
        ])
        #expect(try QuestionScript(question, [refunded]).verdict?.reason == .transactionRevoked)
    }

    @Test(
        "what Apple attested and does not find is asked for again without end, and never fails for it",
        arguments: [SandboxPolicy.accept, .reject])
    func contradiction(sandbox: SandboxPolicy) throws {
        func verdict(
            _ target: ServerAPIQuestion.Target, isAttested: Bool = false, in environment: Environment?
        ) throws -> Verdict? {
            let question = try Script.question(
                target, isAttested: isAttested, in: environment, app: Fixture.app(sandbox: sandbox))
            return try QuestionScript(question, [Script.notFound, Script.notFound]).verdict
        }
        // A purchase of an unknown environment may be one of the sandbox, which is not granted.
        let unknown: [Environment?] = sandbox == .accept ? [nil] : []
        for environment in unknown + [Environment.production, .sandbox] {
            #expect(
                try verdict(.transaction(Script.id), isAttested: true, in: environment)
                    == .contradicted(named(environment ?? .sandbox)))
            #expect(try verdict(.history(of: ProvenCustomer(Script.id)), in: environment) == .contradicted(nil))
            #expect(
                try verdict(.transaction(Script.id), in: environment)?.doubt?.becomes == .transactionNotFound,
                "nobody attested a claimed id")
        }
    }

    @Test("an answer that was signed before what it is to confirm is not Apple's to this question, and grants nothing")
    func olderConfirmation() throws {
        let question = try Script.question(.confirmation(Script.id, since: Fixture.now), in: .production)
        let older = try Script.found(["signedDate": SignedToken.moment(-1)])
        #expect(try QuestionScript(question, [older]).verdict?.hold == .unknownAnswer)
    }

    /// Of which nothing but an id is known.
    private let bare = Fixture.submission(evidence: .transactionID(ServerAPIScript.id))

    @Test("an id that Apple never gave out is refused when Apple has said so over a fresh connection, too")
    func invalidID() throws {
        let invalid = Script.error(4_000_006)
        let question = try Script.question(.transaction(Script.id), bare)
        let run = try QuestionScript(question, [invalid, invalid])
        #expect(run.calls == ["production \(Script.path)", "production \(Script.path) over a fresh connection"])
        #expect(run.verdict?.reason == .transactionNotFound)
        // The answer was somebody else's.
        #expect(try QuestionScript(question, [invalid, try Script.found()]).verdict?.granted == [Script.id])
    }

    @Test("an id that the sandbox refuses stays one that production may not have yet")
    func invalidInSandbox() throws {
        let invalid = Script.error(4_000_006)
        let question = try Script.question(.transaction(Script.id), bare)
        let run = try QuestionScript(question, [Script.notFound, invalid, invalid])
        #expect(
            run.calls == [
                "production \(Script.path)", "sandbox \(Script.path)", "sandbox \(Script.path) over a fresh connection",
            ])
        #expect(run.verdict?.doubt?.cause == .notFoundYet && run.verdict?.doubt?.becomes == .transactionNotFound)
    }

    @Test("a refusal in one environment is not the first of two in the other")
    func refusalBeforeHop() throws {
        let invalid = Script.error(4_000_006)
        let question = try Script.question(.transaction(Script.id), bare)
        let run = try QuestionScript(question, [invalid, Script.notFound, invalid, try Script.foundInSandbox()])
        #expect(run.calls.count == 4 && run.calls[2] == "sandbox \(Script.path)")
        #expect(run.verdict?.granted == [Script.id])
    }

    @Test("a refusal after a page is a fault of the moment")
    func refusalAfterPage() throws {
        let first = try Script.page([Script.transaction("1")], next: "a")
        let run = try QuestionScript(
            try Script.question(.history(of: ProvenCustomer("1"))), [first, Script.error(4_000_006)])
        #expect(run.verdict == .retry(.temporarilyUnable, notBefore: nil))
    }

    @Test("an id that Apple signed before is never refused for good: a person must look")
    func invalidSignedID() throws {
        let invalid = Script.error(4_000_006)
        for target: ServerAPIQuestion.Target in [
            .confirmation(Script.id, since: Fixture.now), .history(of: ProvenCustomer(Script.id)),
        ] {
            let run = try QuestionScript(try Script.question(target, in: .production), [invalid, invalid])
            #expect(run.calls.count == 2)
            #expect(run.verdict?.hold == .unknownAnswer)
        }
        // It stands in a receipt that Apple signed.
        let ofReceipt = try QuestionScript(
            try Script.question(.transaction(Script.id), isAttested: true), [invalid, invalid])
        #expect(ofReceipt.verdict?.hold == .unknownAnswer)
    }

    @Test("an id that was claimed with zeros in front is asked for without them, and granted")
    func leadingZeros() throws {
        let id = TransactionID(reading: "0002000000000001")
        let verdict = try QuestionScript(
            try Script.question(.transaction(id), Fixture.submission(transactionID: id)),
            [try Script.found(["transactionId": "\"2000000000001\""])]
        ).verdict
        #expect(verdict?.granted == ["2000000000001"])
    }

    @Test("another app's transaction, which Apple never answers an app's key with, waits for a person as in a history")
    func otherApp() throws {
        let verdict = try Script.verdict(on: try Script.found(["bundleId": "\"com.example.other\""]))
        #expect(verdict?.hold == .unknownAnswer)
    }

    @Test("an answer signed ahead of our clock is tried again when its moment has come")
    func signedAhead() throws {
        let verdict = try Script.verdict(on: try Script.found(["signedDate": SignedToken.moment(600)]))
        #expect(
            verdict
                == .retry(.signedAhead, notBefore: Fixture.now.advanced(by: .seconds(300))))
    }

    @Test("always ends, after a bounded number of calls, whatever Apple answers", arguments: 0..<200 as Range<UInt64>)
    func ends(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let fixed = [
            Script.notFound, Script.unauthenticated, Script.error(4_000_005), Script.error(4_000_006),
            Script.error(4_000_017),
            Script.error(5_000_000), try Script.found(), Script.reply(200, "{}"), .failed(.timedOut),
        ]
        let questions = [
            try Script.question(),
            try Script.question(.confirmation(Script.id, since: Fixture.now), in: .production),
            try Script.question(.history(of: ProvenCustomer(Script.id))),
            try Script.question(.history(of: ProvenCustomer(Script.id))),
        ]
        let replies = try (0..<1000).map { number in
            // Mostly pages: everything else ends a try soon.
            Int.random(in: 0..<40, using: &generator) > 0
                ? try Script.page([], next: "r\(Int.random(in: 0...number, using: &generator))", more: "")
                : fixed[Int.random(in: 0..<fixed.count, using: &generator)]
        }
        let question = questions[Int.random(in: 0..<questions.count, using: &generator)]
        let run = try QuestionScript(question, replies)
        #expect(run.verdict != nil)
        // The pages, the restarts, one fresh token, one hop, a refusal in each environment that is repeated, and the
        // answer that ends it.
        #expect(run.calls.count < AttemptLimit.mostCalls)
        // Once in the sandbox, production is not asked again.
        let environments = run.calls.map { $0.hasPrefix("production") }
        #expect(environments == environments.sorted { $0 && !$1 })
    }
}

@Suite("A question about a transaction with a key that is refused")
struct ServerAPIRefusedKeyTests {
    private typealias Script = ServerAPIScript
    private let refused = ServerAPIScript.unauthenticated

    @Test("a refused token is replaced once")
    func freshToken() throws {
        let run = try QuestionScript(try Script.question(), [refused, try Script.found()], taking: 20)
        #expect(run.calls == ["production \(Script.path)", "production \(Script.path) with a fresh token"])
        #expect(run.verdict?.granted == [Script.id])
    }

    @Test("then the sandbox tells an app that was never released from a wrong key")
    func unreleased() throws {
        let calls = [
            "production \(Script.path)", "production \(Script.path) with a fresh token",
            "sandbox \(Script.path) with a fresh token",
        ]
        let unreleased = try QuestionScript(
            try Script.question(), [refused, refused, try Script.foundInSandbox()], taking: 20)
        #expect(unreleased.calls == calls)
        #expect(unreleased.verdict?.granted == [Script.id])
        let wrongKey = try QuestionScript(try Script.question(), [refused, refused, refused], taking: 20)
        #expect(wrongKey.calls == calls)
        #expect(wrongKey.verdict?.hold == .credentialsRefused)
    }

    @Test("while production's word is missing nothing is decided against the player")
    func silentProduction() throws {
        for answer in [Script.notFound, Script.error(4_040_001), Script.error(4_040_005)] {
            #expect(try Script.verdict(on: refused, refused, answer)?.hold == .credentialsRefused)
        }
        let idRefused = Script.error(4_000_006)
        #expect(try Script.verdict(on: refused, refused, idRefused, idRefused)?.hold == .credentialsRefused)
        let empty = try Script.page([], more: "")
        let history = try QuestionScript(
            try Script.question(.history(of: ProvenCustomer(Script.id))), [refused, refused, empty])
        #expect(history.verdict?.hold == .credentialsRefused)
    }

    @Test("a confirmation, and a user without sandbox purchases, do not go to the sandbox")
    func noHop() throws {
        let confirmation = try QuestionScript(
            try Script.question(.confirmation(Script.id, since: Fixture.now), in: .production), [refused, refused])
        #expect(confirmation.verdict?.hold == .credentialsRefused)
        let app = Fixture.app(sandbox: .reject)
        #expect(try Script.verdict(on: refused, refused, app: app)?.hold == .credentialsRefused)
    }

    @Test("a key that production took before is not doubted in the sandbox")
    func acceptedBefore() throws {
        let first = try Script.page([Script.transaction("1")], next: "a")
        let run = try QuestionScript(
            try Script.question(.history(of: ProvenCustomer(Script.id))), [first, refused, refused], taking: 20)
        #expect(run.calls.count == 3)
        #expect(run.calls.last?.hasSuffix("revision=a with a fresh token over a fresh connection") == true)
        #expect(run.verdict?.hold == .credentialsRefused)
    }

    @Test("401 is one whatever its body says")
    func body() throws {
        for body in ["", "{}", #"{"errorCode":4010000}"#, #"{"errorCode":4000006}"#, "<html>"] {
            let run = try QuestionScript(try Script.question(), [Script.reply(401, body), try Script.found()])
            #expect(run.verdict?.granted == [Script.id])
        }
    }
}
