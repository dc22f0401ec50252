import Ledger
import Purchases
import Testing

@testable import Fulfillment

/// One submission's life under random verdicts, through memory and the ledger, beside what is to be true of it.
private struct RetryLife {
    private static let received = Timestamp(milliseconds: 1_795_255_200_000)
    private static let rejection = Rejection(.transactionNotFound, "Not there.")

    let policy: RetryPolicy
    var random: SeededGenerator
    private var now = received
    private var state = RetryState()
    private var counted = 0
    /// Counted tries since it was last in the ledger, and turns without budget.
    private var here = 0
    private var isParked = false
    private var doubtSince: Timestamp?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        policy = RetryPolicy(maxAge: seed % 2 == 0 ? .seconds(86_400) : nil)
    }

    /// - Returns: whether it goes on.
    mutating func step() throws -> Bool {
        now = now.advanced(by: .milliseconds(Int.random(in: 0...2000, using: &random)))
        let isAway = Int.random(in: 0..<4, using: &random) == 0
        let verdict = verdict()
        let isCounted = isCounted(verdict, isAway)
        let step = state.received(
            verdict, policy: policy, receivedAt: Self.received, now: now,
            unit: Double.random(in: 0..<1, using: &random), isAway: isAway, claiming: nil)
        if isCounted { counted += 1 }
        if isCounted || (isUnasked(verdict) && !isAway) { here += 1 }
        if case .retry(_, _, .window) = verdict { doubtSince = doubtSince ?? now }
        try #require(state.attempts == counted, "only tries that say something count")
        try #require(state.history.attempts.count <= AttemptHistory.maxFirst + AttemptHistory.maxLatest)
        switch step {
        case .settle(let decision): return try settled(decision, verdict)
        case .tryAgain(let delay):
            try #require(delay >= .zero && delay <= policy.backoff.cap + policy.recheckGap + .seconds(120))
            // Of what is limited for everybody the line knows the moment.
            if case .retry(let cause, let moment?, _) = verdict, !(isAway && cause == .rateLimited) {
                try #require(now.advanced(by: delay) >= moment)
            }
            if case .retry(_, _, .unlimited) = verdict, !isAway {
                try #require(here < (isParked ? 1 : policy.memoryTries), "memory holds it for the first tier only")
            }
            now = now.advanced(by: delay)
        case .wait(let cause, _, let delay):
            try #require(delay >= .zero)
            let cap = isUnasked(verdict) ? policy.budgetSpread : policy.parkedBackoff.cap
            try #require(delay <= cap + .seconds(120))
            if case .parked(let cause) = cause {
                try #require(!(isAway && cause == .noAnswer), "an outage parks nothing")
            }
            now = now.advanced(by: delay)
            state = RetryState(due(cause))
            (isParked, here) = (true, 0)
        }
        return true
    }

    private func settled(_ decision: Decision, _ verdict: Verdict) throws -> Bool {
        switch (verdict, decision) {
        case (.verified, .grant), (.rejected, .fail): break
        case (.retry(_, _, .tries), .fail): break
        case (.retry(_, _, .window), .fail(let rejection)) where rejection == Self.rejection:
            try #require(now.since(try #require(doubtSince)) >= policy.doubtWindow, "a doubt has its time")
        case (.retry, .fail(let rejection)):
            try #require(rejection.reason == .abandonedByOperator)
            try #require(now.since(Self.received) >= (try #require(policy.maxAge)), "never without a maximum age")
            try #require(!isUnasked(verdict), "never for our own budget")
        default: Issue.record("\(verdict) settled as \(decision)")
        }
        return false
    }

    private func isCounted(_ verdict: Verdict, _ isAway: Bool) -> Bool {
        guard case .retry(let cause, _, _) = verdict else { return true }
        return !isUnasked(verdict) && !(isAway && (cause == .noAnswer || cause == .rateLimited))
    }

    private func isUnasked(_ verdict: Verdict) -> Bool {
        guard case .retry(.budgetSpent, _, _) = verdict else { return false }
        return true
    }

    private mutating func verdict() -> Verdict {
        switch Int.random(in: 0..<2000, using: &random) {
        case 0: .verified([], by: .verifyReceipt)
        case 1: .rejected(Self.rejection)
        case 2..<300: .hold(.sharedSecretRefused, detail: "x")
        case 300..<500: .retry(.budgetSpent, notBefore: moment(2), patience: .unlimited)
        case 500..<700: .retry(.rateLimited, notBefore: moment(60), patience: .unlimited)
        case 700..<710: .retry(.perhapsNotAuthentic, notBefore: nil, patience: .tries(2, then: Self.rejection))
        case 710..<1000: .retry(.notFoundYet, notBefore: nil, patience: .window(then: Self.rejection))
        default: .retry(.noAnswer, notBefore: nil, patience: .unlimited)
        }
    }

    private mutating func moment(_ seconds: Int) -> Timestamp {
        now.advanced(by: .seconds(Int.random(in: 0...seconds, using: &random)))
    }

    private func due(_ cause: WaitingCause) -> DueSubmission {
        let claimant = Claimant(submissionID: "s", userID: "u", bundleID: "b")
        return DueSubmission(
            submission: Submission(id: "s", userID: "u", bundleID: "b", evidence: .receipt(base64: "AAAA")),
            claimant: claimant, fingerprint: "f", origin: Origin(topic: "t", partition: 0, offset: 0),
            receivedAt: Self.received, attempts: state.attempts, history: state.history, cause: cause,
            doubtSince: state.doubtSince)
    }
}

@Suite("Retrying, whatever happens")
struct RetryPropertyTests {
    @Test("keeps its promises over random verdicts, for as long as a submission lives", arguments: 0..<20)
    func promises(seed: Int) throws {
        var steps = 0
        var life: UInt64 = 0
        while steps < 10_000 {
            var submission = RetryLife(seed: UInt64(seed) * 1_000_000 + life)
            life += 1
            repeat { steps += 1 } while try submission.step() && steps < 10_000
        }
        #expect(life > 1)
    }
}
