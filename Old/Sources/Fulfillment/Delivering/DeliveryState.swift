import Ledger
import Purchases

/// One delivery's calls so far: takes answers and says what to do next. Knows no clock and no randomness of its own.
///
/// A delivery is called for ever, at longer and longer intervals: the purchase was paid, so there is no giving up.
struct DeliveryState: Hashable, Sendable {
    /// What to do after an answer.
    enum Step: Hashable, Sendable {
        case finish
        /// Call again after a while, from memory.
        case tryAgain(after: Duration)
        /// Give it back to the ledger, where it is due after a while.
        case giveBack(after: Duration)
    }

    /// Calls that count: those that the service answered for itself, and those made while it was not in trouble.
    private(set) var attempts: Int
    /// The counted calls that did not help.
    private(set) var history: AttemptHistory
    private let isFromLedger: Bool
    private var triesHere = 0

    /// The state of a delivery that a worker was just given.
    init(_ delivery: Delivery) {
        attempts = delivery.attempts
        history = delivery.history
        isFromLedger = delivery.attempts > 0
    }

    /// Takes the answer to a call.
    ///
    /// - Parameters:
    ///   - unit: a random number in `0..<1`.
    ///   - isTroubled: whether the service is in trouble with everybody's calls; then having no answer says nothing about this
    ///     one.
    mutating func received(
        _ answer: DeliveryAnswer, policy: DeliveryPolicy, now: Timestamp, unit: Double, isTroubled: Bool
    ) -> Step {
        switch answer {
        case .done, .doneBefore:
            attempts += 1
            return .finish
        case .unknown: return .giveBack(after: .zero)
        case .failed(let failure, let status, let retryAfter):
            let pause = retryAfter ?? .zero
            // What is not counted is due again at once, and so stands in front of all that came after it.
            guard !isTroubled || answer.isOwnNo else { return .giveBack(after: pause) }
            attempts += 1
            triesHere += 1
            history.add(Attempt(at: now, cause: failure.rawValue, detail: failure.sentence(status)))
            guard isTroubled || isFromLedger || triesHere >= policy.quickTries || pause > policy.quickWait else {
                return .tryAgain(after: pause + policy.quickBackoff.delay(afterFailures: triesHere, unit: unit))
            }
            let failures = max(1, attempts - policy.quickTries + 1)
            // The jitter comes on top of what the service asked for: nobody may be early, and not everybody at once.
            let delay = policy.backoff.delay(afterFailures: failures, unit: unit)
            return .giveBack(after: pause + (isTroubled ? min(delay, policy.troubledWait) : delay))
        }
    }
}
