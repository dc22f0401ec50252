import Ledger
import Purchases

/// One submission's tries so far: takes verdicts and says what to do next.
///
/// First tier of retrying: in memory, while the record's offset is held. Knows no clock and no randomness of its own.
struct RetryState: Sendable {
    /// What to do after a verdict.
    enum Step: Hashable, Sendable {
        case settle(Decision)
        /// Verify again after a while. `isHeld` says that our own side is at fault and people should know.
        case tryAgain(after: Duration, isHeld: Bool)
    }

    /// Tries in which Apple was asked, or the evidence judged. What was not tried, because our own budget of calls was
    /// spent, is none.
    private(set) var attempts = 0
    /// Verdicts received: what the delays grow by.
    private var verdicts = 0
    /// When the doubt came up that the last verdict repeated.
    private var doubtSince: Duration?
    private var lastCause: RetryCause?
    private var sameCause = 0
    private var holds = 0

    /// Takes the verdict of a try.
    ///
    /// - Parameters:
    ///   - evidence: kept in the ledger if the submission is held there.
    ///   - elapsed: monotonic time, to measure the doubt window.
    ///   - now: wall-clock time, to honour a moment that Apple named.
    ///   - isCrowded: whether as many submissions as may wait for such a reason already.
    mutating func received(
        _ verdict: Verdict, evidence: @autoclosure () -> Evidence, policy: RetryPolicy, elapsed: Duration,
        now: Timestamp, unit: Double, isCrowded: (Wait) -> Bool
    ) -> Step {
        verdicts += 1
        if !verdict.isUntried { attempts += 1 }
        switch verdict {
        case .verified(let purchases, let verifiedBy): return .settle(.grant(purchases, by: verifiedBy))
        case .rejected(let rejection): return .settle(.fail(rejection))
        case .hold(let cause, let detail):
            lastCause = nil
            holds += 1
            if holds >= policy.crowdedTries, isCrowded(.hold) {
                return .settle(.hold(cause, detail: detail, evidence: evidence()))
            }
            return .tryAgain(after: policy.holdBackoff.delay(afterFailures: holds, unit: unit), isHeld: true)
        case .retry(let cause, let notBefore, let patience):
            holds = 0
            sameCause = cause == lastCause ? sameCause + 1 : 1
            lastCause = cause
            var delay = policy.backoff.delay(afterFailures: verdicts, unit: unit)
            switch patience {
            case .unlimited: break
            case .tries(let limit, let rejection):
                if sameCause >= limit { return .settle(.fail(rejection)) }
                delay = max(delay, policy.recheckGap)
            case .window(let rejection):
                // Only the time in doubt counts: what came before it, such as an outage, says nothing against the claim.
                let since = doubtSince ?? elapsed
                doubtSince = since
                if elapsed - since >= policy.doubtWindow { return .settle(.fail(rejection)) }
                if sameCause >= policy.crowdedTries, isCrowded(.doubt) {
                    return .settle(.hold(.inDoubt, detail: rejection.detail, evidence: evidence()))
                }
            }
            guard let notBefore else { return .tryAgain(after: delay, isHeld: false) }
            // The jitter comes on top: nobody may be early, and not everybody at the same moment.
            return .tryAgain(after: max(.zero, notBefore.since(now)) + delay, isHeld: false)
        }
    }

    /// A reason to wait that may not fill the window.
    enum Wait: Hashable, Sendable {
        /// Whether Apple's "no" is its last word.
        case doubt
        /// Our own side is at fault.
        case hold
    }

    /// What the submission waits for, if it is one of these.
    var wait: Wait? {
        if holds > 0 { return .hold }
        return lastCause == .notFoundYet || lastCause == .perhapsMalformed ? .doubt : nil
    }
}

extension Verdict {
    /// Whether nobody was asked.
    fileprivate var isUntried: Bool {
        guard case .retry(.budgetSpent, _, _) = self else { return false }
        return true
    }
}
