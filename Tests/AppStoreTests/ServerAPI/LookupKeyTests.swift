import Contract
import Testing

@testable import AppStore

@Suite("Transaction lookup with a key that is refused")
struct LookupKeyTests {
    private typealias Script = LookupScript
    private let refused = LookupScript.unauthenticated

    @Test("a refused token is replaced once")
    func freshToken() throws {
        let run = try QuestionScript(try Script.lookup(), [refused, try Script.found()], taking: 20)
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
            try Script.lookup(), [refused, refused, try Script.foundInSandbox()], taking: 20)
        #expect(unreleased.calls == calls)
        #expect(unreleased.verdict?.granted == [Script.id])
        let wrongKey = try QuestionScript(try Script.lookup(), [refused, refused, refused], taking: 20)
        #expect(wrongKey.calls == calls)
        #expect(wrongKey.verdict?.hold == .credentialsRefused)
    }

    @Test("while production's word is missing nothing is decided against the player")
    func silentProduction() throws {
        for answer in [Script.notFound, Script.error(4_040_001), Script.error(4_040_005)] {
            #expect(try Script.verdict(on: refused, refused, answer)?.hold == .credentialsRefused)
        }
        let empty = try Script.page([], more: "")
        let history = try QuestionScript(
            try Script.lookup(.history(of: ProvenCustomer(Script.id))), [refused, refused, empty])
        #expect(history.verdict?.hold == .credentialsRefused)
    }

    @Test("a confirmation, and a user without sandbox purchases, do not go to the sandbox")
    func noHop() throws {
        let confirmation = try QuestionScript(
            try Script.lookup(.confirmation(Script.id, since: Fixture.now), in: .production), [refused, refused])
        #expect(confirmation.verdict?.hold == .credentialsRefused)
        let app = Fixture.app(sandbox: .reject)
        #expect(try Script.verdict(on: refused, refused, app: app)?.hold == .credentialsRefused)
    }

    @Test("a key that production took before is not doubted in the sandbox")
    func acceptedBefore() throws {
        let first = try Script.page([Script.transaction("1")], next: "a")
        let run = try QuestionScript(
            try Script.lookup(.history(of: ProvenCustomer(Script.id))), [first, refused, refused], taking: 20)
        #expect(run.calls.count == 3)
        #expect(run.calls.last?.hasSuffix("revision=a with a fresh token over a fresh connection") == true)
        #expect(run.verdict?.hold == .credentialsRefused)
    }

    @Test("401 is one whatever its body says")
    func body() throws {
        for body in ["", "{}", #"{"errorCode":4010000}"#, #"{"errorCode":4000006}"#, "<html>"] {
            let run = try QuestionScript(try Script.lookup(), [Script.reply(401, body), try Script.found()])
            #expect(run.verdict?.granted == [Script.id])
        }
    }
}
