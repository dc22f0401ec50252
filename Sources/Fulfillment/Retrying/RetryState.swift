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

    /// Verdicts received.
    private(set) var attempts = 0
    private var firstTry: Duration?
    private var lastCause: RetryCause?
    private var sameCause = 0
    private var holds = 0

    /// Takes the verdict of a try.
    ///
    /// - Parameters:
    ///   - evidence: kept in the ledger if the submission is held there.
    ///   - elapsed: monotonic time, to measure the doubt window.
    ///   - now: wall-clock time, to honour a moment that Apple named.
    ///   - isCrowded: whether too many submissions wait in doubt already.
    mutating func received(
        _ verdict: Verdict, evidence: Evidence, policy: RetryPolicy, elapsed: Duration, now: Timestamp, unit: Double,
        isCrowded: Bool
    ) -> Step {
        attempts += 1
        let started = firstTry ?? elapsed
        firstTry = started
        switch verdict {
        case .verified(let purchases, let verifiedBy): return .settle(.grant(purchases, by: verifiedBy))
        case .rejected(let rejection): return .settle(.fail(rejection))
        case .hold(.evidenceNotSupported, let detail):
            // Nothing this process does will change it: it waits in the ledger, not in the window.
            return .settle(.hold(.evidenceNotSupported, detail: detail, evidence: evidence))
        case .hold:
            lastCause = nil
            holds += 1
            return .tryAgain(after: policy.holdBackoff.delay(afterFailures: holds, unit: unit), isHeld: true)
        case .retry(let cause, let notBefore, let patience):
            sameCause = cause == lastCause ? sameCause + 1 : 1
            lastCause = cause
            if let rejection = verdictAgainst(patience, policy, waited: elapsed - started, isCrowded: isCrowded) {
                return .settle(.fail(rejection))
            }
            let delay = policy.backoff.delay(afterFailures: attempts, unit: unit)
            guard let notBefore else { return .tryAgain(after: delay, isHeld: false) }
            // The jitter comes on top: nobody may be early, and not everybody at the same moment.
            return .tryAgain(after: max(.zero, notBefore.since(now)) + delay, isHeld: false)
        }
    }

    /// Whether the submission waits for a doubt to be settled.
    var isInDoubt: Bool { lastCause == .notFoundYet || lastCause == .perhapsMalformed }

    private func verdictAgainst(
        _ patience: Patience, _ policy: RetryPolicy, waited: Duration, isCrowded: Bool
    ) -> Rejection? {
        switch patience {
        case .unlimited: nil
        case .tries(let limit, let rejection): sameCause >= limit ? rejection : nil
        case .window(let rejection):
            waited >= policy.doubtWindow || (isCrowded && sameCause >= policy.doubtTries) ? rejection : nil
        }
    }
}
