import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("The retry policy")
final class RetryPolicyTests {
    private var state = AttemptState()
    private var now = Instant.zero
    private var wall = Timestamp(milliseconds: 1_700_000_000_000)
    private var random = SplitMix64(seed: 1)

    private func step(_ verdict: Verdict, isTroubled: Bool = false) -> RetryStep {
        RetryPolicy.step(
            after: verdict, &state, endpoint: Fixture.verifyReceipt, isTroubled: isTroubled, at: now, wall: wall,
            using: &random)
    }

    private func wait(_ duration: Duration) {
        now += duration
        wall = wall.advanced(by: duration)
    }

    private static let rejection = Rejection(.transactionNotFound, "Apple does not know it.")
    private static let doubt = Verdict.doubt(.notFoundYet, becomes: .rejected(rejection))

    private func isFailure(_ step: RetryStep) -> Bool {
        if case .decide(.fail(Self.rejection)) = step { true } else { false }
    }

    private func entry(_ step: RetryStep) -> RetryEntry? {
        if case .wait(let entry) = step { entry } else { nil }
    }

    @Test("decides what is verified or rejected, and counts the attempt")
    func final() {
        guard case .decide(.grant) = step(Fixture.verified("t1")) else {
            Issue.record("verified is granted")
            return
        }
        #expect(isFailure(step(.rejected(Self.rejection))))
        #expect(state.attempts == 2)
    }

    @Test("repeats a failed attempt at most three times within five seconds, then has it wait", arguments: 0..<50)
    func repeats(seed: Int) {
        random = SplitMix64(seed: UInt64(seed))
        var pauses: [Duration] = []
        while case .again(let pause) = step(.retry(.noAnswer, notBefore: nil)) {
            pauses.append(pause)
            wait(pause)
        }
        #expect(pauses.count == 3)
        #expect(pauses.reduce(.zero, +) <= .seconds(5))
        #expect(state.history.attempts.count == 4)
    }

    @Test("does not repeat what hung for longer than five seconds")
    func hung() {
        _ = step(.retry(.noAnswer, notBefore: nil))
        wait(.seconds(20))
        #expect(entry(step(.retry(.noAnswer, notBefore: nil))) != nil)
    }

    @Test("waits longer each time in retries, up to fifteen minutes, and never less than the moment that Apple named")
    func delays() throws {
        state.attempts = 3
        let early = entry(step(.retry(.rateLimited, notBefore: wall.advanced(by: .seconds(300)))))
        #expect(try #require(early).delay >= 300_000)
        state.attempts = 100
        let late = entry(step(.retry(.rateLimited, notBefore: wall.advanced(by: .seconds(300)))))
        #expect(try #require(late).delay >= 300_000 + 450_000)
        #expect(try #require(late).delay <= 300_000 + 900_000)
    }

    @Test("counts nothing while the endpoint is in trouble with everybody's calls")
    func troubled() {
        _ = step(.retry(.unreachable, notBefore: nil), isTroubled: true)
        #expect(state.attempts == 0)
        #expect(state.history.attempts.isEmpty)
    }

    @Test("lets a doubt last for six hours between doubting answers, and five of them at least")
    func doubtLasts() {
        for _ in 0..<3 {
            #expect(entry(step(Self.doubt)) != nil)
            wait(.seconds(3 * 3600))
        }
        #expect(state.doubt?.elapsed == 21_600_000)
        #expect(entry(step(Self.doubt)) != nil, "nine hours, and the fourth answer")
        #expect(isFailure(step(Self.doubt)))
    }

    @Test("grants at its end the purchases that a doubt held up")
    func doubtGrants() {
        guard case .verified(let purchases, let verifiedBy) = Fixture.verified("t1") else {
            Issue.record("nothing is verified")
            return
        }
        let doubt = Verdict.doubt(.notFoundYet, becomes: .verified(purchases, by: verifiedBy))
        for _ in 0..<4 {
            #expect(entry(step(doubt)) != nil)
            wait(.seconds(2 * 3600))
        }
        guard case .decide(.grant(purchases, by: verifiedBy)) = step(doubt) else {
            Issue.record("it is not granted")
            return
        }
    }

    @Test("does not end a doubt before its six hours, however many answers came")
    func doubtTime() {
        for _ in 0..<359 {
            #expect(entry(step(Self.doubt)) != nil)
            wait(.seconds(60))
        }
        #expect(entry(step(Self.doubt)) != nil)
        wait(.seconds(120))
        #expect(isFailure(step(Self.doubt)))
    }

    @Test("stops a doubt's clock while anything else comes: outages and our own holds do not count")
    func clockStands() {
        _ = step(Self.doubt)
        wait(.seconds(3600))
        _ = step(.retry(.unreachable, notBefore: nil))
        wait(.seconds(100 * 3600))
        _ = step(Self.doubt)
        #expect(state.doubt?.elapsed == 0)
        wait(.seconds(60))
        _ = step(.hold(.credentialsRefused, detail: "401"))
        wait(.seconds(100 * 3600))
        _ = step(Self.doubt)
        #expect(state.doubt?.elapsed == 0)
        wait(.seconds(60))
        _ = RetryPolicy.notAsked(
            &state, endpoint: Fixture.verifyReceipt, awayFor: .seconds(9), wall: wall, using: &random)
        #expect(state.doubt?.runningSince == nil)
    }

    @Test("has a held submission tried again after one to five minutes", arguments: [0, 3, 100])
    func held(attempts: Int) throws {
        state.attempts = attempts
        let entry = try #require(self.entry(step(.hold(.sharedSecretRefused, detail: "21004"))))
        #expect(entry.cause == .held(.sharedSecretRefused))
        #expect(entry.detail == "21004")
        #expect((60_000...300_000).contains(entry.delay))
    }

    @Test(
        "has a submission that was not asked about due after a quarter of the time away, 15 s to 15 min",
        arguments: [(0, 15...15), (60, 15...15), (400, 50...100), (360_000, 450...900)])
    func away(seconds: Int, range: ClosedRange<Int64>) {
        let entry = RetryPolicy.notAsked(
            &state, endpoint: Fixture.verifyReceipt, awayFor: .seconds(seconds), wall: wall, using: &random)
        #expect((range.lowerBound * 1000...range.upperBound * 1000).contains(entry.delay))
        #expect(state.attempts == 0)
    }

    @Test("has a sentence for people for every cause", arguments: RetryCause.allCases)
    func sentences(cause: RetryCause) {
        #expect(cause.sentence.hasSuffix("."))
    }
}
