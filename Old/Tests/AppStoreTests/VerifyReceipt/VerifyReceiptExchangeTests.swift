import Purchases
import Testing

@testable import AppStore

@Suite("verifyReceipt exchange")
struct VerifyReceiptExchangeTests {
    private let gems = Answer.authentic(inApp: [Answer.record()])
    private let sandboxGems = Answer.authentic(environment: "Sandbox", inApp: [Answer.record()])

    @Test("asks production first and concludes with what Apple attests")
    func success() {
        let run = Fixture.run([gems], submission: Fixture.submission(environment: .sandbox))
        #expect(run.calls == [.production])
        #expect(run.verdict?.granted == ["1001"])
    }

    struct StatusRow: Sendable {
        let status: Int
        var more = ""
        var reason: FailureReason?
        var hold: HoldCause?
        var retry: RetryCause?
        var then: FailureReason?
    }

    @Test(
        "has one verdict for every status",
        arguments: [
            StatusRow(status: 0, hold: .incompleteAnswer),
            StatusRow(status: 21000, hold: .requestRefused),
            StatusRow(status: 21001, hold: .unknownAnswer),
            StatusRow(status: 21002, retry: .perhapsMalformed, then: .receiptMalformed),
            StatusRow(status: 21003, retry: .perhapsNotAuthentic, then: .receiptNotAuthentic),
            StatusRow(status: 21004, hold: .sharedSecretRefused),
            StatusRow(status: 21005, retry: .temporarilyUnable),
            StatusRow(status: 21006, reason: .subscriptionExpired),
            StatusRow(status: 21008, retry: .temporarilyUnable),
            StatusRow(
                status: 21009, more: ",\"environment\":\"Production\",\"exception\":\"x\"", retry: .temporarilyUnable),
            StatusRow(status: 21010, reason: .accountGone),
            StatusRow(status: 21100, retry: .temporarilyUnable),
            StatusRow(status: 21104, more: ",\"is_retryable\":true", retry: .temporarilyUnable),
            StatusRow(status: 21150, more: ",\"is-retryable\":\"false\"", reason: .receiptNotAuthentic),
            StatusRow(status: 21199, more: ",\"is_retryable\":0", reason: .receiptNotAuthentic),
            StatusRow(status: 21200, hold: .unknownAnswer),
            StatusRow(status: -1, hold: .unknownAnswer),
            StatusRow(status: 99999, more: ",\"is_retryable\":false", hold: .unknownAnswer),
        ])
    func statuses(row: StatusRow) throws {
        let answer = Answer.status(row.status, row.more)
        let run = Fixture.run([answer, answer])
        let verdict = try #require(run.verdict)
        // What would be the end is asked again.
        #expect(run.calls.count == (row.reason == nil ? 1 : 2))
        #expect(verdict.reason == row.reason)
        #expect(verdict.hold == row.hold)
        #expect(verdict.retry?.cause == row.retry)
        #expect(verdict.retry?.then == row.then)
    }

    @Test("believes 21003 at the second try, and asks twice in it")
    func notAuthentic() {
        let refused = Answer.status(21003)
        let first = Fixture.run([refused])
        #expect(first.calls == [.production])
        #expect(first.verdict?.retry?.tries == 2)
        let second = Fixture.run([refused, refused], isRetry: true)
        #expect(second.calls == [.production, .production])
        #expect(second.verdict == first.verdict)
    }

    @Test("asks once a try while it says that the receipt is malformed: it is believed after a whole window of that")
    func malformed() {
        let run = Fixture.run([Answer.status(21002)], isRetry: true)
        #expect(run.calls == [.production])
        #expect(run.verdict?.retry?.then == .receiptMalformed)
    }

    @Test("a refusal that would be the end may be somebody else's: it is asked for again over a fresh connection")
    func shiftedRefusal() {
        for refused in [Answer.status(21010), Answer.status(21006), Answer.status(21150, ",\"is_retryable\":false")] {
            var exchange = Fixture.exchange()
            guard case .call(let environment, let secret, isFresh: false) = exchange.start() else {
                Issue.record("not asked")
                return
            }
            let again = exchange.answered(.response(httpStatus: 200, retryAfter: nil, body: refused), now: Fixture.now)
            #expect(again == .call(environment: environment, secret: secret, isFresh: true))
            let last = exchange.answered(.response(httpStatus: 200, retryAfter: nil, body: gems), now: Fixture.now)
            guard case .conclude(let verdict) = last else {
                Issue.record("still asking")
                return
            }
            #expect(verdict.granted == ["1001"])
        }
        #expect(Fixture.run([Answer.status(21003), gems], isRetry: true).verdict?.granted == ["1001"])
        let rejecting = Fixture.app(sandbox: .reject)
        #expect(Fixture.run([Answer.status(21007), gems], app: rejecting).verdict?.granted == ["1001"])
    }

    @Test("says the status when Apple refuses for good")
    func detail() {
        let refused = Answer.status(21199, ",\"is_retryable\":false")
        guard case .rejected(let rejection) = Fixture.run([refused, refused]).verdict else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.detail.contains("21199"))
    }

    @Test("takes a sandbox receipt to the sandbox and marks what it attests")
    func hop() {
        let run = Fixture.run([Answer.status(21007), sandboxGems])
        #expect(run.calls == [.production, .sandbox])
        guard case .verified(let purchases, .verifyReceipt) = run.verdict else {
            Issue.record("not verified")
            return
        }
        #expect(purchases.map(\.purchase.environment) == [.sandbox])
    }

    @Test("hops once: endpoints that send a receipt to and fro are Apple's fault", arguments: [21007, 21008])
    func pingPong(status: Int) {
        let run = Fixture.run([Answer.status(21007), Answer.status(status)])
        #expect(run.calls == [.production, .sandbox])
        #expect(run.verdict == .retry(.temporarilyUnable, notBefore: nil, patience: .unlimited))
    }

    @Test("does not go to the sandbox for a user whose sandbox purchases are not granted")
    func sandboxPolicy() {
        for policy in [SandboxPolicy.reject, .users(["player-2"])] {
            let run = Fixture.run([Answer.status(21007), Answer.status(21007)], app: Fixture.app(sandbox: policy))
            #expect(run.calls == [.production, .production])
            #expect(run.verdict?.reason == .environmentNotAllowed)
        }
        let listed = Fixture.app(sandbox: .users(["player-1"]))
        #expect(Fixture.run([Answer.status(21007), sandboxGems], app: listed).verdict?.granted == ["1001"])
    }

    @Test("believes that a receipt is the sandbox's where it says so itself, at once")
    func saysSandbox() {
        var exchange = Fixture.exchange(app: Fixture.app(sandbox: .reject), sent: ReceiptMark(saysSandbox: true))
        _ = exchange.start()
        let step = exchange.answered(
            .response(httpStatus: 200, retryAfter: nil, body: Answer.status(21007)), now: Fixture.now)
        guard case .conclude(let verdict) = step else {
            Issue.record("asked again")
            return
        }
        #expect(verdict.reason == .environmentNotAllowed)
    }

    @Test("tries secrets in order, keeps the one that worked over a hop, and holds when none is left")
    func rotation() {
        let secrets = ["first", "second", "third"].map { SharedSecret($0) }
        var exchange = Fixture.exchange(secrets: secrets)
        var tried: [SharedSecret?] = []
        let answers = [21004, 21007, 21004, 21004, 21004]
        var step = exchange.start()
        for status in answers {
            guard case .call(_, let secret, _) = step else { break }
            tried.append(secret)
            step = exchange.answered(
                .response(httpStatus: 200, retryAfter: nil, body: Answer.status(status)), now: Fixture.now)
        }
        #expect(tried == [0, 1, 1, 0, 2].map { secrets[$0] })
        guard case .conclude(let verdict) = step else {
            Issue.record("still asking")
            return
        }
        #expect(verdict.hold == .sharedSecretRefused)
    }

    @Test("asks without a password where no secret is configured, and holds if Apple wants one")
    func noSecret() {
        var exchange = Fixture.exchange(secrets: [])
        #expect(exchange.start() == .call(environment: .production, secret: nil, isFresh: false))
        #expect(Fixture.run([Answer.status(21004)], secrets: []).verdict?.hold == .sharedSecretRefused)
    }

    @Test("repeats the step that is due, and its verdict once it has one")
    func repetition() {
        var exchange = Fixture.exchange()
        let first = exchange.start()
        #expect(exchange.start() == first)
        let last = exchange.answered(.failed(.timedOut), now: Fixture.now)
        #expect(last == .conclude(.retry(.unreachable, notBefore: nil, patience: .unlimited)))
        #expect(exchange.answered(.response(httpStatus: 200, retryAfter: nil, body: gems), now: Fixture.now) == last)
        #expect(exchange.start() == last)
    }

    @Test("always ends, after at most one call per endpoint and secret, and one more", arguments: 0..<200)
    func termination(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let secrets = (0..<Int.random(in: 0...4, using: &generator)).map { SharedSecret("secret \($0)") }
        var exchange = Fixture.exchange(
            app: Fixture.app(sandbox: Bool.random(using: &generator) ? .accept : .reject), secrets: secrets,
            sent: ReceiptMark(transactionID: "2001"), isRetry: Bool.random(using: &generator))
        let answers =
            [21004, 21004, 21004, 21007, 21008, 21003, 21010].map { Answer.status($0) } + [gems, Answer.authentic()]
        var step = exchange.start()
        var calls = 0
        while calls < 100 {
            if step == .compare { step = exchange.compared(with: []) }
            guard case .call = step else { break }
            calls += 1
            let body = answers.randomElement(using: &generator) ?? []
            step = exchange.answered(.response(httpStatus: 200, retryAfter: nil, body: body), now: Fixture.now)
        }
        guard case .conclude = step else {
            Issue.record("still asking")
            return
        }
        #expect(calls <= 2 * max(1, secrets.count) + 1)
    }
}
