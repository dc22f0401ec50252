public import Contract
import Ledger
import Scheduling

/// The attempts for one submission so far.
struct AttemptState: Sendable {
    /// Attempts that count: Apple was asked while it replied to others, or the evidence was checked.
    var attempts = 0
    /// The counted attempts that decided nothing.
    var history = AttemptHistory()
    var doubt: Doubt?
    /// Attempts that failed since the submission came into memory.
    var failuresHere = 0
    /// When the first of them failed.
    var failingSince: Instant?

    /// Whether the next attempt is a retry: an earlier one failed while Apple replied to others. If there was none, or
    /// only while nobody had a reply, the next attempt is a first attempt.
    var hasFailed: Bool { attempts > 0 || failuresHere > 0 }

    /// Whether it has a number of attempts and nothing else.
    var isCountOnly: Bool { history.attempts.isEmpty && doubt == nil && failuresHere == 0 }
}

/// The step that follows from a verdict.
enum RetryStep: Sendable {
    /// It is final.
    case decide(Decision.Content)
    /// The attempt is repeated after a while, in memory.
    case again(after: Duration)
    /// The submission waits in `retries`.
    case wait(RetryEntry)
}

/// How submissions without an answer are tried again.
///
/// - A failed attempt is repeated at most three times within five seconds, in memory, while its endpoint's budget of
///   retries lasts. Then the submission waits in `retries`. A submission that was undecided ten times is not repeated in memory: its history then has an entry for
///   each time it was due. Nor is one about which two words of Apple's contradict each other.
/// - A submission waits as long as it has been tried, from 4 seconds to 15 minutes, with equal jitter. The number of
///   attempts does not matter: four failures within a moment say no more than one.
/// - A doubt is a reply of Apple's that may not be its last word. It becomes final once at least five doubting replies
///   with its cause came and the clock has run for six hours. The clock runs only between doubting replies.
/// - The time between other replies that decide nothing is summed up as well. As long as a doubt may last, and at most
///   for six hours, it is retried in silence. Then it is held as `no_decision`, with an alert, and tried at the same
///   pace.
/// - Clocks may step, so the time between two replies counts at most the longest pause between them.
/// - A held submission is due every one to five minutes, for ever.
/// - A moment that Apple named is obeyed. No moment is further away than the longest delay: the row is looked at in
///   between.
/// - While an endpoint is in trouble with everybody's calls, a failed attempt says nothing and does not count.
struct RetryPolicy: Sendable {
    static let repeats = 3
    static let repeatWithin: Duration = .seconds(5)
    static let repeatBackoff = Backoff(base: .milliseconds(400), cap: .seconds(2))
    static let shortestPause: Duration = .seconds(4)
    static let heldBackoff = Backoff(base: .seconds(120), cap: .seconds(5 * 60), jitter: .equal)
    static let doubtReplies = 5
    static let doubtTime: Duration = .seconds(6 * 3600)
    /// The longest pause between two attempts of a submission whose endpoint replies.
    static let longestPause: Duration = .seconds(15 * 60)
    static let awayShare = 0.25
    static let awayLeast: Duration = .seconds(30)
    static let awayMost: Duration = .seconds(15 * 60)

    /// Takes the verdict of an attempt or a check.
    /// - Parameters:
    ///   - endpoint: the endpoint that it waits for if it has to; where Apple was not asked, that of a later question.
    ///   - isTroubled: whether the endpoint is in trouble with everybody's calls.
    ///   - mayRepeat: whether the endpoint has calls for one more repeated attempt.
    ///   - doubtLimit: how long a doubt lasts.
    static func step(
        after verdict: Verdict, _ state: inout AttemptState, endpoint: Endpoint, isTroubled: Bool,
        mayRepeat: Bool, doubtLimit: Duration, at now: Instant, wall: Timestamp, using generator: inout SplitMix64
    ) -> RetryStep {
        switch verdict {
        case .verified(let purchases, let verifiedBy):
            state.attempts += 1
            return .decide(.grant(purchases, by: verifiedBy))
        case .rejected(let rejection):
            state.attempts += 1
            return .decide(.fail(rejection))
        case .doubt(let cause, let end):
            guard doubted(cause, &state, limit: doubtLimit, wall: wall) else {
                switch end {
                case .verified(let purchases, let verifiedBy): return .decide(.grant(purchases, by: verifiedBy))
                case .rejected(let rejection): return .decide(.fail(rejection))
                }
            }
            return .wait(
                entry(.retrying(cause, endpoint), cause.sentence, after: delay(state, using: &generator), state))
        case .hold(let cause, let detail, let purchases):
            return .wait(held(cause, &state, detail: detail, purchases, wall: wall, using: &generator))
        case .retry(let cause, let notBefore, let purchases):
            stopClock(&state)
            let early = notBefore.map { max(.zero, $0.since(wall)) } ?? .zero
            if !isTroubled { count(cause.rawValue, cause.sentence, &state, wall) }
            let undecided = Undecided(state.history)
            if !isTroubled, undecided.time >= min(doubtLimit, doubtTime) {
                return .wait(noDecision(cause, purchases, early: early, state, using: &generator))
            }
            // Apple has replied, as with a doubt: a moment later it says the same.
            let isNew = cause != .noLongerFound && undecided.replies <= AttemptHistory.maxFirst
            return repeated(
                cause, purchases, early: early, mayRepeat: mayRepeat && isNew, &state, endpoint, at: now,
                using: &generator)
        }
    }

    /// A doubting reply came.
    /// - Returns: whether the doubt still lasts.
    static func doubted(
        _ cause: RetryCause, _ state: inout AttemptState, limit: Duration, wall: Timestamp
    ) -> Bool {
        count(cause.rawValue, cause.sentence, &state, wall)
        let before = state.doubt ?? Doubt(replies: 0, elapsed: 0, runningSince: nil)
        let ran = before.runningSince.map { counted(wall.since($0)) } ?? .zero
        let doubt = Doubt(
            replies: before.replies + 1, elapsed: before.elapsed + ran.wholeMilliseconds, runningSince: wall)
        state.doubt = doubt
        // A reply that came once is not Apple's last word, however long another reply came before.
        let replies = state.history.attempts.count { $0.cause == cause.rawValue }
        return replies < doubtReplies || .milliseconds(doubt.elapsed) < limit
    }

    /// The row of a submission that is not asked about, because its endpoint is away or the rate limit is used up.
    static func notAsked(
        _ cause: RetryCause, _ state: inout AttemptState, endpoint: Endpoint, awayFor: Duration,
        using generator: inout SplitMix64
    ) -> RetryEntry {
        stopClock(&state)
        let most = min(max(awayFor * awayShare, awayLeast), awayMost)
        let delay = most * Double.random(in: 0.5...1, using: &generator)
        return entry(.retrying(cause, endpoint), cause.sentence, after: delay, state)
    }

    /// The row of a doubt that came up when the ledger was asked to write.
    static func nothingNew(
        _ state: AttemptState, endpoint: Endpoint, using generator: inout SplitMix64
    ) -> RetryEntry {
        let cause = RetryCause.nothingNew
        return entry(.retrying(cause, endpoint), cause.sentence, after: delay(state, using: &generator), state)
    }

    /// The row of a decision that the ledger does not write, or that waits for us.
    static func held(
        _ cause: HoldCause, _ state: inout AttemptState, detail: String, _ purchases: [NamedPurchase] = [],
        wall: Timestamp, using generator: inout SplitMix64
    ) -> RetryEntry {
        count(cause.rawValue, detail, &state, wall)
        stopClock(&state)
        let delay = heldBackoff.delay(afterFailures: state.attempts, using: &generator)
        return entry(.held(cause), detail, after: delay, state, purchases)
    }

    /// The row of a submission whose check has ended worker after worker. It is due when a person says so.
    static func endsWorkers(_ state: inout AttemptState) -> RetryEntry {
        stopClock(&state)
        return entry(
            .held(.endsWorkers), "Its check has begun again and again, and ended each worker.", after: .zero, state)
    }

    /// The row of a submission that alone is not decided. Its pace stays, because people cannot hasten Apple.
    private static func noDecision(
        _ cause: RetryCause, _ purchases: [NamedPurchase], early: Duration, _ state: AttemptState,
        using generator: inout SplitMix64
    ) -> RetryEntry {
        entry(
            .held(.noDecision), "\(cause.sentence) That lasts, while others are answered.",
            after: early + delay(state, using: &generator), state, purchases)
    }

    /// The part of the time between two replies that counts.
    private static func counted(_ interval: Duration) -> Duration { min(max(.zero, interval), longestPause) }

    /// The sum of a history about replies that decided and doubted nothing, since the latest hold of ours. In a full
    /// history the first attempts do not count: that hold may be among the dropped attempts.
    private struct Undecided {
        var replies = 0
        /// From and to such a reply. The time between two doubting ones is the doubt's.
        var time = Duration.zero

        init(_ history: AttemptHistory) {
            var later: (at: Timestamp, isDoubt: Bool)?
            let isFull = history.attempts.count == AttemptHistory.maxFirst + AttemptHistory.maxLatest
            for attempt in history.attempts.dropFirst(isFull ? AttemptHistory.maxFirst : 0).reversed() {
                guard HoldCause(rawValue: attempt.cause) == nil else { break }
                let isDoubt = RetryCause(rawValue: attempt.cause)?.isDoubt ?? false
                if !isDoubt { replies += 1 }
                if let later, !later.isDoubt || !isDoubt { time += counted(later.at.since(attempt.at)) }
                later = (attempt.at, isDoubt)
            }
        }
    }

    private static func repeated(
        _ cause: RetryCause, _ purchases: [NamedPurchase], early: Duration, mayRepeat: Bool,
        _ state: inout AttemptState, _ endpoint: Endpoint, at now: Instant, using generator: inout SplitMix64
    ) -> RetryStep {
        state.failuresHere += 1
        let since = state.failingSince ?? now
        state.failingSince = since
        let after = early + repeatBackoff.delay(afterFailures: state.failuresHere, using: &generator)
        if mayRepeat, state.failuresHere <= repeats, now + after - since <= repeatWithin { return .again(after: after) }
        // The delay is added to a moment that Apple named, so that calls are never early, and are spread.
        let delay = early + delay(state, using: &generator)
        return .wait(entry(.retrying(cause, endpoint), cause.sentence, after: delay, state, purchases))
    }

    /// The pause before the next attempt is as long as Apple has been asked, so it about doubles.
    private static func delay(_ state: AttemptState, using generator: inout SplitMix64) -> Duration {
        let tried = Undecided(state.history).time + .milliseconds(state.doubt?.elapsed ?? 0)
        return min(max(tried, shortestPause), longestPause) * Double.random(in: 0.5...1, using: &generator)
    }

    private static func entry(
        _ cause: WaitCause, _ detail: String, after delay: Duration, _ state: AttemptState,
        _ purchases: [NamedPurchase] = []
    ) -> RetryEntry {
        RetryEntry(
            cause: cause, detail: detail, delay: min(delay.wholeMilliseconds, longestDelayMilliseconds),
            history: state.history, doubt: state.doubt, isSigned: false,
            purchases: purchases.count <= NamedPurchase.most ? purchases : [])
    }

    private static func count(_ cause: String, _ detail: String, _ state: inout AttemptState, _ wall: Timestamp) {
        state.attempts += 1
        state.history.add(Attempt(at: wall, cause: cause, detail: detail))
    }

    /// Another reply than a doubt came, so the time since the latest doubt does not count.
    private static func stopClock(_ state: inout AttemptState) {
        guard let doubt = state.doubt, doubt.runningSince != nil else { return }
        state.doubt = Doubt(replies: doubt.replies, elapsed: doubt.elapsed, runningSince: nil)
    }
}

extension RetryCause {
    /// For people who look at a submission that waits.
    public var sentence: String {
        switch self {
        case .unreachable: "Nothing was heard from Apple."
        case .noAnswer: "Apple's server failed, or sent what is no reply."
        case .rateLimited: "Apple's limit of calls is used up."
        case .temporarilyUnable: "Apple said that it cannot tell now."
        case .perhapsMalformed: "Apple said that the receipt is malformed, which may be a fault of the moment."
        case .perhapsNotAuthentic: "Apple refused a receipt that may be genuine, which may be a fault of the moment."
        case .perhapsRevoked: "Apple's reply has the purchase as refunded in one part, and as standing in another."
        case .notFoundYet: "Apple does not know the transaction yet."
        case .noLongerFound: "Apple does not find a purchase that it attested, or refuses a receipt that it signed."
        case .nothingNew: "All that Apple has was granted before, and the claim seems to be about something new."
        case .signedAhead: "It was signed at a moment that, by this worker's clock, is still to come."
        case .endpointUnavailable: "Apple was not asked, because this endpoint answers nobody, or too slowly."
        }
    }
}
