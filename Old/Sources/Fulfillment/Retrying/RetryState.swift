import Ledger
import Purchases

/// One submission's tries so far: takes verdicts and says what to do next.
///
/// First tier: a few tries in memory, while the record's offset is held. Third tier: a row in the ledger, which comes back
/// when it is due. (The second, Apple being away, is the breaker's: tries that it cuts short do not count.) Knows no clock
/// and no randomness of its own.
struct RetryState: Sendable {
    /// What to do after a verdict.
    enum Step: Hashable, Sendable {
        case settle(Decision)
        /// Verify again after a while.
        case tryAgain(after: Duration)
        /// Keep it in the ledger until it is due.
        case wait(WaitingCause, detail: String, after: Duration)
    }

    /// Tries that count: in which Apple was asked while it answered others, or the evidence judged.
    private(set) var attempts: Int
    /// The counted tries that decided nothing.
    private(set) var history: AttemptHistory
    /// Since when Apple has said a "no" that may not be its last word.
    private(set) var doubtSince: Timestamp?

    /// Why it waited; nil for one that comes from the input topic.
    private let waitedFor: WaitingCause?
    /// Tries that counted since the submission was last in the ledger, and turns for which our own budget was spent: what
    /// memory holds a submission for.
    private var roundsHere = 0
    /// Verdicts since then: what the delays in memory grow by.
    private var verdicts = 0
    private var lastCause: RetryCause?
    private var sameCause = 0

    /// The state of a submission that comes from the input topic.
    init() {
        attempts = 0
        history = AttemptHistory()
        waitedFor = nil
    }

    /// The state of a submission that comes from the ledger.
    init(_ due: DueSubmission) {
        attempts = due.attempts
        history = due.history
        doubtSince = due.doubtSince
        waitedFor = due.cause
    }

    /// Takes the verdict of a try.
    ///
    /// - Parameters:
    ///   - receivedAt: the submission's own age is counted from here.
    ///   - now: wall-clock time; asked for only where something waits.
    ///   - unit: a random number in `0..<1`; drawn only where something waits.
    ///   - isAway: whether what was asked is in trouble with everybody's calls; then the try says nothing about this
    ///     submission.
    ///   - transactionID: what the submission claims, so that it is found by it when it is given up.
    mutating func received(
        _ verdict: Verdict, policy: RetryPolicy, receivedAt: Timestamp, now: @autoclosure () -> Timestamp,
        unit: @autoclosure () -> Double, isAway: Bool, claiming transactionID: TransactionID?
    ) -> Step {
        verdicts += 1
        switch verdict {
        case .verified(let purchases, let verifiedBy):
            attempts += 1
            return .settle(.grant(purchases, by: verifiedBy))
        case .rejected(let rejection):
            attempts += 1
            return .settle(.fail(rejection))
        case .hold(let cause, let detail):
            count(cause.rawValue, detail, now())
            lastCause = nil
            return .wait(
                .held(cause), detail: detail, after: policy.heldBackoff.delay(afterFailures: attempts, unit: unit()))
        case .retry(let cause, let notBefore, let patience):
            let now = now()
            let unit = unit()
            let early = notBefore.map { max(.zero, $0.since(now)) } ?? .zero
            let inMemory = early + policy.backoff.delay(afterFailures: verdicts, unit: unit)
            if isAway, cause.isAboutApple {
                // What a limit names holds for everybody, and is waited for in line, where others can be seen to wait, too.
                if cause == .rateLimited { return .tryAgain(after: inMemory - early) }
                guard early > policy.memoryWait else { return .tryAgain(after: inMemory) }
                return .wait(
                    waitedFor ?? .parked(cause), detail: cause.sentence, after: early + policy.budgetSpread * unit)
            }
            if cause == .budgetSpent { roundsHere += 1 } else { count(cause.rawValue, cause.sentence, now) }
            sameCause = cause == lastCause ? sameCause + 1 : 1
            lastCause = cause
            switch patience {
            case .unlimited: break
            case .tries(let limit, let rejection):
                if sameCause >= limit { return .settle(.fail(rejection)) }
                return .tryAgain(after: max(inMemory, policy.recheckGap))
            case .window(let rejection):
                // Only the time in doubt counts: what came before it, such as an outage, says nothing against the claim.
                let since = doubtSince ?? now
                doubtSince = since
                if now.since(since) >= policy.doubtWindow { return .settle(.fail(rejection)) }
            }
            guard roundsHere >= (waitedFor != nil ? 1 : policy.memoryTries) || early > policy.memoryWait else {
                return .tryAgain(after: inMemory)
            }
            return park(
                cause, policy, receivedAt: receivedAt, now: now, early: early, unit: unit, claiming: transactionID)
        }
    }

    /// What to do with a submission that was not tried because what it needs is away and others wait for that: to the ledger,
    /// uncounted, and if it comes from there for the same cause as before.
    ///
    /// - Parameters:
    ///   - awayFor: how long that has been away. The delay grows by it, having no tries to grow by.
    ///   - unit: a random number in `0..<1`.
    func notAsked(_ policy: RetryPolicy, awayFor: Duration, unit: Double) -> Step {
        let most = min(max(awayFor * policy.awayShare, policy.leastAwayWait), policy.parkedBackoff.cap)
        return .wait(
            waitedFor ?? .parked(.unreachable),
            detail: "Apple is in trouble with everybody's calls, which says nothing about this submission.",
            after: most * (0.5 + unit / 2))
    }

    private func park(
        _ cause: RetryCause, _ policy: RetryPolicy, receivedAt: Timestamp, now: Timestamp, early: Duration,
        unit: Double, claiming transactionID: TransactionID?
    ) -> Step {
        // Given up is only what was tried over that time, not what nobody could read, or had the budget for, for so long.
        if waitedFor != nil, cause != .budgetSpent, let maxAge = policy.maxAge, now.since(receivedAt) >= maxAge {
            return .settle(
                .fail(
                    Rejection(
                        .abandonedByOperator, "Older than the configured maximum age. \(cause.sentence)",
                        transactionID: transactionID)))
        }
        let failures = max(1, attempts - policy.memoryTries + 1)
        let jitter =
            cause == .budgetSpent
            ? policy.budgetSpread * unit : policy.parkedBackoff.delay(afterFailures: failures, unit: unit)
        // It comes on top of a moment that Apple or the budget named: nobody may be early, and not everybody at once.
        return .wait(.parked(cause), detail: cause.sentence, after: early + jitter)
    }

    private mutating func count(_ cause: String, _ detail: String, _ now: Timestamp) {
        attempts += 1
        roundsHere += 1
        history.add(Attempt(at: now, cause: cause, detail: detail))
    }
}

extension RetryCause {
    /// Whether it says something about Apple and nothing about the submission, so that an outage explains it.
    fileprivate var isAboutApple: Bool {
        switch self {
        case .unreachable, .noAnswer, .rateLimited, .temporarilyUnable, .budgetSpent: true
        case .perhapsMalformed, .perhapsNotAuthentic, .notFoundYet, .signedAhead: false
        }
    }

    /// For people who look at a submission that waits.
    fileprivate var sentence: String {
        switch self {
        case .unreachable: "Nothing was heard from Apple."
        case .noAnswer: "Apple's server failed, or sent what is no answer."
        case .rateLimited: "Apple asked for fewer calls."
        case .temporarilyUnable: "Apple said that it cannot tell now."
        case .perhapsMalformed: "Apple said that the receipt is malformed, which may be a fault of the moment."
        case .perhapsNotAuthentic: "Apple said that the receipt is not authentic, and is asked once more."
        case .notFoundYet: "Apple does not know the transaction yet."
        case .signedAhead: "It was signed at a moment that, by this worker's clock, is still to come."
        case .budgetSpent: "The app's calls to the App Store Server API are used up for the moment."
        }
    }
}
