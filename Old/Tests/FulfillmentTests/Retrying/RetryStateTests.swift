import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("Retrying one submission")
struct RetryStateTests {
    private let policy = RetryPolicy(doubtWindow: .seconds(600))
    private let rejection = Rejection(.transactionNotFound, "Not there.")
    private let noAnswer = Verdict.retry(.noAnswer, notBefore: nil, patience: .unlimited)

    /// A state that expectations may change.
    private final class Tried {
        var state: RetryState

        init(_ state: RetryState = RetryState()) { self.state = state }
    }

    private func step(
        _ tried: Tried, _ verdict: Verdict, at seconds: Int = 0, isAway: Bool = false, policy: RetryPolicy? = nil
    ) -> RetryState.Step {
        tried.state.received(
            verdict, policy: policy ?? self.policy, receivedAt: Timestamp(milliseconds: 0),
            now: Timestamp(milliseconds: Int64(seconds) * 1000), unit: 0.5, isAway: isAway,
            claiming: nil)
    }

    /// A submission that was parked after some tries.
    private func parked(_ attempts: Int, doubtSince: Timestamp? = nil) -> Tried {
        let submission = Submission(
            id: "s", userID: "u", bundleID: "b", evidence: .receipt(base64: "AAAA"))
        return Tried(
            RetryState(
                DueSubmission(
                    submission: submission, claimant: Claimant(submissionID: "s", userID: "u", bundleID: "b"),
                    fingerprint: "f", origin: Origin(topic: "t", partition: 0, offset: 0),
                    receivedAt: Timestamp(milliseconds: 0), attempts: attempts,
                    history: AttemptHistory([Attempt(at: Timestamp(milliseconds: 1), cause: "noAnswer", detail: "x")]),
                    cause: .parked(.noAnswer), doubtSince: doubtSince)))
    }

    @Test("settles what is definite")
    func definite() {
        let tried = Tried()
        #expect(step(tried, .rejected(rejection)) == .settle(.fail(rejection)))
        #expect(tried.state.attempts == 1)
        #expect(tried.state.history.attempts.isEmpty)
    }

    @Test("tries a few times in memory, with ceilings that double, then parks with the history of it")
    func parks() {
        let tried = Tried()
        #expect(step(tried, noAnswer) == .tryAgain(after: .milliseconds(100)))
        #expect(step(tried, noAnswer) == .tryAgain(after: .milliseconds(200)))
        #expect(step(tried, noAnswer) == .tryAgain(after: .milliseconds(400)))
        guard case .wait(.parked(.noAnswer), _, after: .seconds(1)) = step(tried, noAnswer, at: 1) else {
            return #expect(Bool(false), "not parked")
        }
        #expect(tried.state.attempts == 4)
        #expect(tried.state.history.attempts.map(\.cause) == Array(repeating: "noAnswer", count: 4))
    }

    @Test("parks for longer and longer, up to the cap, and never gives up")
    func forEver() {
        var delays: [Duration] = []
        for attempts in 4..<40 {
            let tried = parked(attempts)
            guard case .wait(.parked, _, let delay) = step(tried, noAnswer, at: 1_000_000) else {
                return #expect(Bool(false), "not parked")
            }
            #expect(tried.state.attempts == attempts + 1)
            #expect(tried.state.history.attempts.count == 2)
            delays.append(delay)
        }
        #expect(Array(delays.prefix(3)) == [.seconds(2), .seconds(4), .seconds(8)])
        #expect(delays.last == .seconds(450))
    }

    @Test("counts no try that an outage explains, and parks nothing for it")
    func outage() {
        let tried = Tried()
        for _ in 0..<100 {
            guard case .tryAgain = step(tried, noAnswer, isAway: true) else {
                return #expect(Bool(false), "gave up waiting")
            }
        }
        #expect(tried.state.attempts == 0)
        #expect(tried.state.history.attempts.isEmpty)
        #expect(step(tried, .rejected(rejection)) == .settle(.fail(rejection)))
    }

    @Test("goes to the ledger, uncounted and for the cause it had, when others wait already for what is away")
    func notAsked() {
        func wait(_ tried: Tried, awayFor: Duration) -> RetryState.Step {
            tried.state.notAsked(policy, awayFor: awayFor, unit: 0.5)
        }
        guard case .wait(.parked(.unreachable), _, _) = wait(Tried(), awayFor: .zero) else {
            return #expect(Bool(false), "nothing was heard from Apple")
        }
        let tried = parked(20)
        var delays: [Duration] = []
        for minutes in [0, 1, 4, 40, 6000] {
            guard case .wait(.parked(.noAnswer), _, let delay) = wait(tried, awayFor: .seconds(60 * minutes)) else {
                return #expect(Bool(false), "it waits for what it waited for")
            }
            delays.append(delay)
        }
        #expect(tried.state.attempts == 20)
        // Three quarters of what it is at most: a quarter of the time, within bounds.
        #expect(delays == [11.25, 11.25, 45, 450, 675].map(Duration.seconds))
    }

    @Test("leaves a moment that Apple named for everybody to the line, where it can be seen to wait")
    func namedInOutage() {
        let limited = Verdict.retry(
            .rateLimited, notBefore: Timestamp(milliseconds: 86_400_000), patience: .unlimited)
        #expect(step(Tried(), limited, isAway: true) == .tryAgain(after: .milliseconds(100)))
        let unavailable = Verdict.retry(
            .noAnswer, notBefore: Timestamp(milliseconds: 120_000), patience: .unlimited)
        let tried = Tried()
        guard case .wait(.parked(.noAnswer), _, after: .seconds(150)) = step(tried, unavailable, isAway: true) else {
            return #expect(Bool(false), "what comes with a 503 is said to one alone, and too far off for memory")
        }
        #expect(tried.state.attempts == 0)
    }

    @Test("counts what says something about the submission even during an outage")
    func doubtInOutage() {
        let tried = Tried()
        _ = step(tried, .retry(.notFoundYet, notBefore: nil, patience: .window(then: rejection)), isAway: true)
        #expect(tried.state.attempts == 1)
    }

    @Test("is never earlier than Apple asked for, in memory for moments and in the ledger for longer")
    func notBefore() {
        func limited(until seconds: Int64) -> Verdict {
            .retry(.rateLimited, notBefore: Timestamp(milliseconds: seconds * 1000), patience: .unlimited)
        }
        #expect(step(Tried(), limited(until: 4), at: 1) == .tryAgain(after: .milliseconds(3_100)))
        guard case .wait(.parked(.rateLimited), _, after: .seconds(60)) = step(Tried(), limited(until: 60), at: 1)
        else { return #expect(Bool(false)) }
    }

    /// What is said while the budget is spent until a moment.
    private func spent(until second: Int) -> Verdict {
        .retry(.budgetSpent, notBefore: Timestamp(milliseconds: Int64(second) * 1000), patience: .unlimited)
    }

    @Test("waits in memory for the budget as often as for Apple, then in the ledger, and no turn is a try")
    func budget() {
        let tried = Tried()
        for second in 0..<3 {
            guard case .tryAgain = step(tried, spent(until: second + 1), at: second) else {
                return #expect(Bool(false), "left memory early")
            }
        }
        // A second until there is budget again, and half of the spread.
        guard case .wait(.parked(.budgetSpent), _, after: .seconds(31)) = step(tried, spent(until: 4), at: 3) else {
            return #expect(Bool(false), "still in memory")
        }
        #expect(tried.state.attempts == 0)
        #expect(tried.state.history.attempts.isEmpty)
    }

    @Test("adds up turns without budget and tries without an answer: memory holds it for so many in all")
    func budgetAmongTries() {
        let tried = Tried()
        for verdict in [noAnswer, spent(until: 1), noAnswer] {
            guard case .tryAgain = step(tried, verdict) else { return #expect(Bool(false), "left memory early") }
        }
        guard case .wait(.parked(.budgetSpent), _, _) = step(tried, spent(until: 1)) else {
            return #expect(Bool(false), "still in memory")
        }
        #expect(tried.state.attempts == 2)
    }

    @Test("goes back to the ledger after one turn without budget, for no longer than before, at any age")
    func budgetInLedger() {
        let policy = RetryPolicy(maxAge: .seconds(3600))
        for attempts in [0, 4, 40] {
            let tried = parked(attempts)
            let step = step(tried, spent(until: 7201), at: 7200, policy: policy)
            guard case .wait(.parked(.budgetSpent), _, after: .seconds(31)) = step else {
                return #expect(Bool(false), "\(step)")
            }
            #expect(tried.state.attempts == attempts)
            #expect(tried.state.history.attempts.count == 1)
        }
    }

    @Test("does not wait in memory for a budget that is spent for long")
    func budgetSpentForLong() {
        let tried = Tried()
        guard case .wait(.parked(.budgetSpent), _, _) = step(tried, spent(until: 90), at: 20) else {
            return #expect(Bool(false), "waits in memory")
        }
        #expect(tried.state.attempts == 0)
    }

    @Test("believes the same doubt once it came back, and only if nothing else came between")
    func tries() {
        let verdict = Verdict.retry(.perhapsNotAuthentic, notBefore: nil, patience: .tries(2, then: rejection))
        let tried = Tried()
        #expect(step(tried, verdict) == .tryAgain(after: policy.recheckGap))
        #expect(step(tried, noAnswer) != .settle(.fail(rejection)))
        #expect(step(tried, verdict) != .settle(.fail(rejection)))
        #expect(step(tried, verdict) == .settle(.fail(rejection)))
        #expect(step(parked(9), verdict) == .tryAgain(after: policy.recheckGap), "from the ledger as well")
    }

    @Test("settles a doubt when its window is over, across the ledger, and counts the time in doubt alone")
    func window() {
        let verdict = Verdict.retry(.notFoundYet, notBefore: nil, patience: .window(then: rejection))
        let tried = Tried()
        _ = step(tried, noAnswer, at: 0)
        #expect(step(tried, verdict, at: 25_000) != .settle(.fail(rejection)))
        #expect(tried.state.doubtSince == Timestamp(milliseconds: 25_000_000))
        let later = parked(5, doubtSince: tried.state.doubtSince)
        #expect(step(later, verdict, at: 25_599) != .settle(.fail(rejection)))
        #expect(step(later, verdict, at: 25_600) == .settle(.fail(rejection)))
    }

    @Test("never fails a submission for a fault of ours, and is back within minutes")
    func holds() {
        for attempts in 0..<50 {
            guard
                case .wait(.held(.sharedSecretRefused), "x", let delay) = step(
                    parked(attempts), .hold(.sharedSecretRefused, detail: "x"), at: 10_000_000,
                    policy: RetryPolicy(maxAge: .seconds(1)))
            else { return #expect(Bool(false)) }
            #expect(delay >= .seconds(30) && delay <= .seconds(150))
        }
    }

    @Test("gives a parked submission up at the configured age, and never without one")
    func maxAge() {
        let policy = RetryPolicy(maxAge: .seconds(3600))
        guard case .wait = step(parked(5), noAnswer, at: 3599, policy: policy) else { return #expect(Bool(false)) }
        let tried = parked(5)
        guard case .settle(.fail(let rejection)) = step(tried, noAnswer, at: 3600, policy: policy) else {
            return #expect(Bool(false))
        }
        #expect(rejection.reason == .abandonedByOperator)
        #expect(tried.state.history.attempts.count == 2)
    }
}
