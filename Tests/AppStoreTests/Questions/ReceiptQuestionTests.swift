import Contract
import Cryptography
import Scheduling
import Testing

@testable import AppStore

@Suite("Question about a receipt")
struct ReceiptQuestionTests {
    private let gems = Answer.authentic(inApp: [Answer.record()])
    private let sandboxGems = Answer.authentic(environment: "Sandbox", inApp: [Answer.record()])

    private func run(
        _ bodies: [[UInt8]], app: App = Fixture.app(), _ submission: Submission = Fixture.submission(),
        secrets: [SharedSecret] = [SharedSecret("first")], hasKey: Bool = false, base64: [UInt8] = Array("AAAA".utf8),
        fingerprint: ReceiptFingerprint = ReceiptFingerprint(), roots: TrustedRoots? = nil
    ) throws -> QuestionScript {
        let rules = try QuestionScript.rules(app, secrets: secrets, hasKey: hasKey)
        let question = ReceiptQuestion(
            subject: QuestionSubject(submission: submission, rules: rules), base64: base64[...],
            fingerprint: fingerprint)
        return try QuestionScript(
            question, bodies.map { QuestionScript.reply($0) }, roots: roots)
    }

    @Test("asks production first, whatever the submission says, and concludes with Apple's attestation")
    func success() throws {
        let run = try run([gems], Fixture.submission(environment: .sandbox))
        #expect(run.calls == ["production passwordfirst"])
        #expect(run.verdict?.granted == ["1001"])
        #expect(run.outcomes == [.replied])
    }

    struct StatusRow: Sendable {
        let status: Int
        var more = ""
        var verdict: Expected
    }

    enum Expected: Hashable, Sendable {
        case reason(FailureReason)
        case hold(HoldCause)
        case retry(RetryCause)
        case doubt(RetryCause, FailureReason)

        init?(_ verdict: Verdict?) {
            switch verdict {
            case .rejected(let rejection): self = .reason(rejection.reason)
            case .hold(let cause, _, _): self = .hold(cause)
            case .retry(let cause, _, _): self = .retry(cause)
            case .doubt(let cause, .rejected(let rejection)): self = .doubt(cause, rejection.reason)
            case .doubt, .verified, nil: return nil
            }
        }
    }

    private static let settled = [
        StatusRow(status: 0, verdict: .hold(.incompleteAnswer)),
        StatusRow(status: 21000, verdict: .hold(.requestRefused)),
        StatusRow(status: 21001, verdict: .hold(.unknownAnswer)),
        StatusRow(status: 21004, verdict: .hold(.sharedSecretRefused)),
        StatusRow(status: 21005, verdict: .retry(.temporarilyUnable)),
        StatusRow(status: 21008, verdict: .retry(.temporarilyUnable)),
        StatusRow(
            status: 21009, more: ",\"environment\":\"Production\",\"exception\":\"x\"",
            verdict: .retry(.temporarilyUnable)),
        StatusRow(status: 21100, verdict: .retry(.temporarilyUnable)),
        StatusRow(status: 21104, more: ",\"is_retryable\":true", verdict: .retry(.temporarilyUnable)),
        StatusRow(status: 21200, verdict: .hold(.unknownAnswer)),
        StatusRow(status: -1, verdict: .hold(.unknownAnswer)),
        StatusRow(status: 99999, more: ",\"is_retryable\":false", verdict: .hold(.unknownAnswer)),
    ]

    @Test("has one verdict for every status that is not against the player", arguments: settled)
    func statuses(row: StatusRow) throws {
        let run = try run([Answer.status(row.status, row.more)])
        #expect(Expected(run.verdict) == row.verdict)
    }

    @Test("takes a sandbox receipt to the sandbox, and marks its purchases so")
    func hop() throws {
        let run = try run([Answer.status(21007), sandboxGems])
        #expect(run.calls == ["production passwordfirst", "sandbox passwordfirst"])
        guard case .verified(let purchases, .verifyReceipt) = run.verdict else {
            Issue.record("not verified")
            return
        }
        #expect(purchases.map(\.purchase.environment) == [.sandbox])
    }

    @Test("hops once: endpoints that send a receipt to and fro are Apple's fault", arguments: [21007, 21008])
    func pingPong(status: Int) throws {
        let run = try run([Answer.status(21007), Answer.status(status)])
        #expect(run.calls.count == 2)
        #expect(run.verdict == .retry(.temporarilyUnable, notBefore: nil))
    }

    @Test("tries the shared secrets in turn, in each environment from the one that was taken")
    func secrets() throws {
        let secrets = ["first", "second"].map { SharedSecret($0) }
        let refused = Answer.status(21004)
        let run = try run([refused, Answer.status(21007), sandboxGems], secrets: secrets)
        #expect(run.calls == ["production passwordfirst", "production passwordsecond", "sandbox passwordsecond"])
        #expect(run.verdict?.granted == ["1001"])
        #expect(try self.run([refused, refused], secrets: secrets).verdict?.hold == .sharedSecretRefused)
        let none = try self.run([refused], secrets: [])
        #expect(none.calls == ["production verifyReceipt"] && none.verdict?.hold == .sharedSecretRefused)
    }

    @Test("takes a failed call for no answer, whatever the reason", arguments: TransportFailure.allCases)
    func failures(failure: TransportFailure) throws {
        let rules = try QuestionScript.rules()
        let question = ReceiptQuestion(
            subject: QuestionSubject(submission: Fixture.submission(), rules: rules), base64: [],
            fingerprint: ReceiptFingerprint())
        let run = try QuestionScript(question, [.failed(failure)])
        #expect(run.verdict == .retry(failure == .tooLarge ? .noAnswer : .unreachable, notBefore: nil))
    }

    @Test(
        "takes every HTTP status but 200 for no answer, and waits as long as Apple says",
        arguments: [0, 100, 201, 204, 301, 302, 307, 400, 401, 403, 404, 413, 429, 500, 502, 503, 999, -1])
    func httpStatuses(status: Int) throws {
        let rules = try QuestionScript.rules()
        let question = ReceiptQuestion(
            subject: QuestionSubject(submission: Fixture.submission(), rules: rules), base64: [],
            fingerprint: ReceiptFingerprint())
        let later = Fixture.now.advanced(by: .seconds(30))
        let cause: RetryCause = status == 429 ? .rateLimited : .noAnswer
        let plain = try QuestionScript(question, [QuestionScript.reply(status, "{\"status\":0}")])
        #expect(plain.verdict == .retry(cause, notBefore: nil))
        let paused = try QuestionScript(question, [QuestionScript.reply(status, "", retryAfter: "30")])
        #expect(paused.verdict == .retry(cause, notBefore: later))
    }

    @Test(
        "takes a page, or a cut or empty body, for no answer",
        arguments: ["", "<html></html>", "{\"status\":", "[]", "{}"])
    func bodies(body: String) throws {
        let run = try run([Array(body.utf8)])
        #expect(run.verdict == .retry(.noAnswer, notBefore: nil))
        #expect(run.outcomes == [.failed])
    }

    @Test("does not grant another app's receipt, and holds one of nobody's")
    func bundle() throws {
        let record = [Answer.record()]
        for other in ["com.example.other", "com.example.GAME"] {
            let answer = Answer.authentic(bundleID: other, inApp: record)
            #expect(try run([answer, answer]).verdict?.reason == .bundleMismatch)
        }
        #expect(try run([Answer.authentic(bundleID: nil, inApp: record)]).verdict?.hold == .incompleteAnswer)
    }

    @Test("never takes one environment's answer for the other's")
    func environment() throws {
        let record = [Answer.record()]
        for name in ["Sandbox", "Moon", "Xcode"] {
            #expect(
                try run([Answer.authentic(environment: name, inApp: record)]).verdict?.hold == .unknownAnswer)
        }
        for name in ["Production", "Xcode"] {
            let inSandbox = try run([Answer.status(21007), Answer.authentic(environment: name, inApp: record)])
            #expect(inSandbox.verdict?.hold == .unknownAnswer)
        }
        let typed =
            "{\"status\":0,\"receipt\":{\"bundle_id\":\"com.example.game\",\"receipt_type\":\"ProductionSandbox\"}}"
        #expect(try run([Array(typed.utf8)]).verdict?.hold == .unknownAnswer)
        #expect(try run([Answer.status(21007), Array(typed.utf8)]).verdict?.doubt?.cause == .notFoundYet)
    }

    @Test("holds a purchase in an unknown form, even beside one that could be granted")
    func unreadable() throws {
        let gift = Answer.record("7", product: "level", ["in_app_ownership_type": "GIFTED"])
        let good = Answer.record("1001")
        let both = Answer.authentic(inApp: [gift, good])
        #expect(try run([both]).verdict?.hold == .incompleteAnswer)
        #expect(try run([both], Fixture.submission(transactionID: "7")).verdict?.hold == .incompleteAnswer)
        #expect(try run([both], Fixture.submission(transactionID: "1001")).verdict?.granted == ["1001"])
        #expect(try run([both], Fixture.submission(productID: "gems")).verdict?.granted == ["1001"])
    }

    @Test("doubts a purchase that is not in the answer yet")
    func notFound() throws {
        for submission in [Fixture.submission(transactionID: "2"), Fixture.submission(productID: "level")] {
            let verdict = try run([gems], submission).verdict
            #expect(verdict?.doubt?.cause == .notFoundYet && verdict?.doubt?.becomes == .transactionNotFound)
        }
    }

    @Test("always ends, after one call per endpoint and secret and one more", arguments: 0..<200 as Range<UInt64>)
    func ends(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let secrets = (0..<Int.random(in: 0...4, using: &generator)).map { SharedSecret("secret \($0)") }
        let answers =
            [21004, 21004, 21004, 21007, 21008, 21003, 21010].map { Answer.status($0) } + [gems, Answer.authentic()]
        let bodies = (0..<100).map { _ in answers.randomElement(using: &generator) ?? [] }
        let run = try run(
            bodies, app: Fixture.app(sandbox: Bool.random(using: &generator) ? .accept : .reject), secrets: secrets,
            fingerprint: ReceiptFingerprint(transactions: ["2001"]))
        #expect(run.verdict != nil)
        #expect(run.calls.count <= 2 * max(1, secrets.count) + 1)
    }
}

/// Replies about another receipt than the one that was sent.
extension ReceiptQuestionTests {
    private static let created = Fixture.now.advanced(by: .zero - Fixture.day)

    private func run(_ bodies: [[UInt8]], sent: [TransactionID]) throws -> QuestionScript {
        try run(bodies, fingerprint: ReceiptFingerprint(createdAt: Self.created, transactions: sent))
    }

    @Test("does not believe an answer with none of the purchases sent, and asks once more over a fresh connection")
    func anotherReceipt() throws {
        func foreign(_ id: String) -> [UInt8] { Answer.authentic(inApp: [Answer.record(id)], createdAt: Self.created) }
        let own = Answer.authentic(inApp: ["2001", "2002"].map { Answer.record($0) }, createdAt: Self.created)
        let shifted = try run([foreign("1001"), own], sent: ["2001", "2002"])
        #expect(shifted.calls == ["production passwordfirst", "production passwordfirst over a fresh connection"])
        #expect(shifted.verdict?.granted == ["2001", "2002"])
        let again = try run([foreign("1001"), foreign("1001")], sent: ["2001", "2002"])
        #expect(again.verdict?.doubt?.cause == .notFoundYet && again.verdict?.doubt?.becomes == .transactionNotFound)
    }

    @Test("doubts an answer that lacks purchases of the receipt, where none is claimed by name")
    func lacking() throws {
        let part = Answer.authentic(inApp: [Answer.record("2001")], createdAt: Self.created)
        let whole = try run([part, part], sent: ["2001", "2002"])
        #expect(whole.calls.count == 2)
        #expect(whole.verdict?.cause == .notFoundYet && whole.verdict?.grantedInTheEnd == ["2001"])
        let fingerprint = ReceiptFingerprint(createdAt: Self.created, transactions: ["2001", "2002"])
        let one = try run([part, part], Fixture.submission(transactionID: "2001"), fingerprint: fingerprint)
        #expect(one.verdict?.granted == ["2001"])
    }

    @Test(
        "grants at the doubt's end what the answer had, where the App Store Server API does not find the rest",
        arguments: [4_040_010, 4_040_001])
    func lackingLookedUp(code: Int) throws {
        let receipt = try ReceiptScript.signed(["2001", "2002"])
        let part = Answer.authentic(inApp: [Answer.record("2002")])
        let run = try ReceiptScript.run(
            receipt, [part, part], hasKey: true, fingerprint: ReceiptFingerprint(transactions: ["2001", "2002"]),
            then: [ServerAPIScript.error(code)])
        #expect(run.calls.last == "production /inApps/v2/history/2001?sort=DESCENDING")
        #expect(run.verdict?.cause == .notFoundYet && run.verdict?.grantedInTheEnd == ["2002"])
    }

    @Test("tells two receipts of one player apart by their moment, to the second, where both name it")
    func moment() throws {
        let earlier = Answer.authentic(
            inApp: [Answer.record("2001")], createdAt: Self.created.advanced(by: .seconds(-1)))
        let own = Answer.authentic(inApp: ["2001", "2002"].map { Answer.record($0) }, createdAt: Self.created)
        #expect(try run([earlier, own], sent: ["2001"]).verdict?.granted == ["2001", "2002"])
        // Over a fresh connection it is the receipt's own, in whatever way Apple words the moment.
        #expect(try run([earlier, earlier], sent: ["2001"]).verdict?.granted == ["2001"])
        for same in [Self.created.advanced(by: .milliseconds(999)), nil] {
            let answer = Answer.authentic(inApp: [Answer.record("2001")], createdAt: same)
            #expect(try run([answer], sent: ["2001"]).calls.count == 1)
        }
    }

    @Test("knows the receipt by a purchase that goes back to one of its own")
    func restored() throws {
        let latest = Answer.authentic(
            inApp: [], latest: [Answer.record("3001", product: "level", ["original_transaction_id": "2001"])],
            createdAt: Self.created)
        let run = try run([latest], sent: ["2001"])
        #expect(run.calls.count == 1 && run.verdict?.granted == ["3001"])
    }

    @Test("knows a receipt without purchases by its moment")
    func withoutPurchases() throws {
        let own = Answer.authentic(inApp: [Answer.record("1001")], createdAt: Self.created)
        #expect(try run([own], sent: []).calls.count == 1)
        let other = Answer.authentic(createdAt: Self.created.advanced(by: .seconds(1)))
        let doubted = try run([other, other], sent: [])
        #expect(doubted.calls.count == 2 && doubted.verdict?.doubt?.cause == .notFoundYet)
        let undated = Answer.authentic(inApp: [Answer.record("1001")])
        #expect(try run([undated, own], sent: []).calls.count == 2, "nothing ties it to the receipt")
    }
}

/// Questions that go on to the App Store Server API.
extension ReceiptQuestionTests {
    @Test("asks the App Store Server API for a purchase that the answer lacks, where the app has a key")
    func asked() throws {
        let receipt = try ReceiptScript.signed()
        let rules = try QuestionScript.rules(hasKey: true)
        let question = ReceiptQuestion(
            subject: QuestionSubject(submission: Fixture.submission(transactionID: "3001"), rules: rules),
            base64: receipt.base64[...], fingerprint: ReceiptFingerprint(transactions: ["2001"]))
        let answer = QuestionScript.reply(Answer.authentic(inApp: [Answer.record("2001")]))
        let page = try ServerAPIScript.page([ServerAPIScript.transaction("2001"), ServerAPIScript.transaction("3001")])
        let run = try QuestionScript(question, [answer, page])
        #expect(run.calls == ["production passwordfirst", "production /inApps/v2/history/2001?sort=DESCENDING"])
        #expect(run.verdict?.granted == ["3001"])
        guard case .verified(_, .serverAPI) = run.verdict else {
            Issue.record("not by the App Store Server API")
            return
        }
    }

    @Test("doubts at once where the app has no key, or the receipt no purchase to ask by")
    func nothingToAsk() throws {
        let bare = try ReceiptScript.signed([])
        let answer = Answer.authentic(inApp: [])
        #expect(try run([answer], hasKey: true, base64: bare.base64).verdict?.doubt?.cause == .notFoundYet)
        let receipt = try ReceiptScript.signed()
        #expect(try run([answer], hasKey: false, base64: receipt.base64).verdict?.doubt?.cause == .notFoundYet)
    }

    @Test("looks up the account tokens that verifyReceipt does not say, where the app requires them")
    func tokens() throws {
        let receipt = try ReceiptScript.signed()
        let answer = Answer.authentic(inApp: [Answer.record("2001")])
        let app = Fixture.app(accountToken: .required)
        let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        let claim = Fixture.submission(transactionID: "2001", token: token)
        let question = ReceiptQuestion(
            subject: QuestionSubject(submission: claim, rules: try QuestionScript.rules(app, hasKey: true)),
            base64: receipt.base64[...], fingerprint: ReceiptFingerprint(transactions: ["2001"]))
        let id = ["transactionId": "\"2001\"", "originalTransactionId": "\"2001\""] as [String: String?]
        for (attested, reason) in [(token, nil), ("other", FailureReason.accountTokenMissing)] {
            let members = id.merging(["appAccountToken": "\"\(attested)\""]) { $1 }
            let run = try QuestionScript(
                question, [QuestionScript.reply(answer), try ServerAPIScript.found(members)])
            #expect(run.calls.last == "production /inApps/v1/transactions/2001")
            #expect(run.verdict?.reason == reason)
        }
        let withoutKey = try run([answer], app: app, claim, base64: receipt.base64)
        #expect(withoutKey.verdict?.reason == .accountTokenMissing)
    }
}
