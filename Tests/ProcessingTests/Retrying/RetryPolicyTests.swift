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

    private func step(
        _ verdict: Verdict, isTroubled: Bool = false, mayRepeat: Bool = true,
        doubtLimit: Duration = RetryPolicy.doubtTime
    ) -> RetryStep {
        RetryPolicy.step(
            after: verdict, &state, endpoint: Fixture.verifyReceipt, isTroubled: isTroubled, mayRepeat: mayRepeat,
            doubtLimit: doubtLimit, at: now, wall: wall, using: &random)
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
        while pauses.count < 10, case .again(let pause) = step(.retry(.noAnswer, notBefore: nil)) {
            pauses.append(pause)
            wait(pause)
        }
        #expect(pauses.count == 3)
        #expect(pauses.reduce(.zero, +) <= .seconds(5))
        #expect(state.history.attempts.count == 4)
    }

    @Test("does not repeat in memory for what the endpoint has no calls for")
    func noRepeat() {
        #expect(entry(step(.retry(.noAnswer, notBefore: nil), mayRepeat: false)) != nil)
        #expect(state.history.attempts.count == 1)
    }

    @Test("does not repeat what hung for longer than five seconds")
    func hung() {
        _ = step(.retry(.noAnswer, notBefore: nil))
        wait(.seconds(20))
        #expect(entry(step(.retry(.noAnswer, notBefore: nil))) != nil)
    }

    @Test("waits longer each time in retries, up to fifteen minutes, and never less than the moment that Apple named")
    func delays() throws {
        func delay() throws -> Int64 {
            try #require(entry(step(.retry(.rateLimited, notBefore: wall.advanced(by: .seconds(300)))))).delay - 300_000
        }
        #expect((2000...4000).contains(try delay()))
        wait(.seconds(60))
        #expect((30_000...60_000).contains(try delay()))
        for _ in 0..<10 {
            _ = try delay()
            wait(.seconds(300))
        }
        #expect((450_000...900_000).contains(try delay()))
    }

    @Test("waits no longer than it has been tried, however often that was: four failures of a moment are like one")
    func bursts() throws {
        let began = now
        for _ in 1...3 {
            var waiting: RetryEntry?
            for _ in 0..<10 where waiting == nil {
                waiting = entry(step(.retry(.noAnswer, notBefore: nil)))
                if waiting == nil { wait(.seconds(1)) }
            }
            let delay = Duration.milliseconds(try #require(waiting).delay)
            #expect(delay >= .seconds(2) && delay <= max(.seconds(4), now - began))
            // Another worker takes the row.
            (state.failuresHere, state.failingSince) = (0, nil)
            wait(delay)
        }
        #expect(now - began < .seconds(60))
    }

    @Test("counts nothing while the endpoint is in trouble with everybody's calls")
    func troubled() {
        _ = step(.retry(.unreachable, notBefore: nil), isTroubled: true)
        #expect(state.attempts == 0)
        #expect(state.history.attempts.isEmpty)
    }

    @Test("lets a doubt last for six hours between doubting replies")
    func doubtLasts() {
        for _ in 0..<24 {
            #expect(entry(step(Self.doubt)) != nil)
            wait(.seconds(900))
        }
        #expect(state.doubt?.elapsed == 20_700_000)
        #expect(isFailure(step(Self.doubt)))
    }

    @Test("lets a doubt have five answers at least")
    func doubtReplies() {
        for _ in 0..<4 {
            #expect(entry(step(Self.doubt, doubtLimit: .seconds(600))) != nil)
            wait(.seconds(900))
        }
        #expect(isFailure(step(Self.doubt, doubtLimit: .seconds(600))))
    }

    @Test("lets a doubt have five answers of its own, however long another one lasted before")
    func doubtOfAnotherCause() {
        let malformed = Verdict.doubt(.perhapsMalformed, becomes: .rejected(Self.rejection))
        for _ in 0..<24 {
            #expect(entry(step(malformed)) != nil)
            wait(.seconds(900))
        }
        for _ in 0..<4 {
            #expect(entry(step(Self.doubt)) != nil)
            wait(.seconds(900))
        }
        #expect(isFailure(step(Self.doubt)))
    }

    @Test("counts at most the longest pause between two replies: a clock may have stepped")
    func doubtClockSteps() {
        _ = step(Self.doubt)
        wall = wall.advanced(by: .seconds(86_400))
        _ = step(Self.doubt)
        #expect(state.doubt?.elapsed == 900_000)
        wall = wall.advanced(by: .seconds(-86_400))
        _ = step(Self.doubt)
        #expect(state.doubt?.elapsed == 900_000)
    }

    @Test("grants at its end the purchases that a doubt held up")
    func doubtGrants() {
        guard case .verified(let purchases, let verifiedBy) = Fixture.verified("t1") else {
            Issue.record("nothing is verified")
            return
        }
        let doubt = Verdict.doubt(.notFoundYet, becomes: .verified(purchases, by: verifiedBy))
        for _ in 0..<24 {
            #expect(entry(step(doubt)) != nil)
            wait(.seconds(900))
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
        wait(.seconds(600))
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
            .endpointUnavailable, &state, endpoint: Fixture.verifyReceipt, awayFor: .seconds(9), using: &random)
        #expect(state.doubt?.runningSince == nil)
    }

    @Test("names no due time that is further away than the longest delay: clocks may be wrong")
    func longestDelay() throws {
        let far = Timestamp(milliseconds: .max)
        let entry = try #require(self.entry(step(.retry(.signedAhead, notBefore: far))))
        #expect(entry.delay == longestDelayMilliseconds)
        let soon = wall.advanced(by: .seconds(2 * 3600))
        #expect(try #require(self.entry(step(.retry(.signedAhead, notBefore: soon)))).delay == longestDelayMilliseconds)
    }

    /// Hours until it is held, in which it is tried each time that it is due.
    private func hoursToHold(_ verdict: Verdict, doubtLimit: Duration = RetryPolicy.doubtTime) throws -> Double {
        let began = now
        for _ in 0..<1000 {
            switch step(verdict, doubtLimit: doubtLimit) {
            case .decide: break
            case .again(let pause): wait(pause)
            case .wait(let entry):
                // Another worker takes the row.
                (state.failuresHere, state.failingSince) = (0, nil)
                if entry.cause == .held(.noDecision) { return (now - began) / .seconds(3600) }
                wait(.milliseconds(entry.delay))
            }
        }
        return .infinity
    }

    @Test(
        "holds what alone is not decided for six hours, so that people hear of it",
        arguments: [
            RetryCause.unreachable, .noAnswer, .rateLimited, .temporarilyUnable, .noLongerFound, .signedAhead,
        ])
    func noDecision(cause: RetryCause) throws {
        #expect((6...8).contains(try hoursToHold(.retry(cause, notBefore: nil))))
        let entry = try #require(self.entry(step(.retry(cause, notBefore: nil))))
        #expect(entry.cause == .held(.noDecision), "and goes on")
        #expect(entry.detail == "\(cause.sentence) That lasts, while others are answered.")
        #expect((450_000...900_000).contains(entry.delay))
        #expect(try #require(self.entry(step(Self.doubt))).cause == .retrying(.notFoundYet, Fixture.verifyReceipt))
    }

    @Test("holds it sooner where doubts are shorter, and never later", arguments: [(1, 1.0...1.3), (720, 6...8)])
    func noDecisionLimit(hours: Int, range: ClosedRange<Double>) throws {
        #expect(range.contains(try hoursToHold(.retry(.noAnswer, notBefore: nil), doubtLimit: .seconds(hours * 3600))))
    }

    @Test("holds what doubting and other answers take turns on")
    func noDecisionNorDoubt() throws {
        let began = now
        while now - began < .seconds(10 * 3600) {
            _ = step(Self.doubt)
            wait(.seconds(900))
            if case .held(.noDecision) = entry(step(.retry(.noAnswer, notBefore: nil)))?.cause { return }
            wait(.seconds(900))
        }
        Issue.record("nobody hears of it")
    }

    @Test("does not count the time to a moment ahead: our clock is slow, and people hear of that, not of Apple")
    func farAhead() throws {
        let entry = self.entry(step(.retry(.signedAhead, notBefore: wall.advanced(by: .seconds(7 * 3600)))))
        #expect(entry?.cause == .retrying(.signedAhead, Fixture.verifyReceipt))
    }

    @Test("does not count an outage, a hold of ours, or a clock that steps, as time without a decision")
    func decisionClockStands() throws {
        let failed = Verdict.retry(.noAnswer, notBefore: nil)
        for _ in 0..<20 {
            _ = step(failed)
            wall = wall.advanced(by: .seconds(900))
        }
        for _ in 0..<100 {
            #expect(entry(step(failed, isTroubled: true))?.cause != .held(.noDecision))
            wait(.seconds(900))
        }
        wall = wall.advanced(by: .seconds(86_400))
        #expect(entry(step(failed))?.cause == .retrying(.noAnswer, Fixture.verifyReceipt))
        _ = step(.hold(.credentialsRefused, detail: "401"))
        wait(.seconds(7 * 3600))
        let hours = try hoursToHold(failed)
        #expect((6...8).contains(hours), "\(hours)")
    }

    @Test("repeats nothing in memory that was undecided ten times")
    func notRepeated() {
        for _ in 0..<10 {
            _ = step(.retry(.noAnswer, notBefore: nil))
            (state.failuresHere, state.failingSince) = (0, nil)
        }
        #expect(entry(step(.retry(.noAnswer, notBefore: nil))) != nil)
    }

    @Test("repeats nothing in memory about which Apple contradicts itself, and names the purchase that would end it")
    func contradiction() throws {
        let named = NamedPurchase("1", of: "gems", GrantKey(environment: .production, name: "t:1"))
        let verdict = Verdict.retry(.noLongerFound, notBefore: nil, purchases: [named])
        let first = try #require(entry(step(verdict)))
        #expect(first.cause == .retrying(.noLongerFound, Fixture.verifyReceipt) && first.purchases == [named])
        _ = try hoursToHold(verdict)
        let held = try #require(entry(step(verdict)))
        #expect(held.cause == .held(.noDecision) && held.purchases == [named])
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
        arguments: [(0, 15...30), (60, 15...30), (400, 50...100), (360_000, 450...900)])
    func away(seconds: Int, range: ClosedRange<Int64>) {
        let entry = RetryPolicy.notAsked(
            .endpointUnavailable, &state, endpoint: Fixture.verifyReceipt, awayFor: .seconds(seconds), using: &random)
        #expect((range.lowerBound * 1000...range.upperBound * 1000).contains(entry.delay))
        #expect(state.attempts == 0)
    }

    @Test("has a sentence for people for every cause", arguments: RetryCause.allCases)
    func sentences(cause: RetryCause) {
        #expect(cause.sentence.hasSuffix("."))
    }
}
