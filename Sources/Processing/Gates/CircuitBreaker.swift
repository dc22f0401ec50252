import Contract
import Scheduling

/// Decides whether an endpoint is called at all. Pure: its inputs are the time and the results of calls.
///
///     closed -> open -> halfOpen -> ramping -> closed
///                ^          |           |
///                +----------+-----------+
///
/// While it is open nothing is called and no attempt is counted. A few probes find out when the endpoint replies again.
/// Then the calls increase step by step, because all waiting calls at once would overload a service that has just
/// started. A slow reply is a reply: ``ConcurrencyLimiter`` takes care of it, not the breaker.
struct CircuitBreaker: Sendable {
    /// The raw values label metrics and logs.
    enum Phase: String, Hashable, Sendable, CaseIterable {
        case closed
        case open
        case halfOpen = "half_open"
        case ramping
    }

    /// An admitted call, to be given back at its end.
    struct Pass: Hashable, Sendable {
        /// Only calls that were admitted in the present phase count for it.
        fileprivate let era: UInt64
        fileprivate let isRetry: Bool
        fileprivate let began: Instant
    }

    private enum State: Sendable {
        /// All calls are made. -> `open`
        case closed
        /// None is. -> `halfOpen` at its end
        case open(until: Instant)
        /// A few are. -> `ramping`, `open`
        case halfOpen(Probes)
        /// A share is, which doubles. -> `closed`, `open`
        case ramping(step: Int, since: Instant)
    }

    /// The calls of a half-open phase.
    private struct Probes: Sendable {
        let since: Instant
        var firstTries = 0
        /// Retries and continuations.
        var others = 0
        /// Replies to retries: they count for this phase alone.
        var repliedRetries = 0

        var underWay: Int { firstTries + others }

        mutating func begin(isRetry: Bool) {
            if isRetry { others += 1 } else { firstTries += 1 }
        }

        mutating func end(isRetry: Bool) {
            if isRetry { others -= 1 } else { firstTries -= 1 }
        }
    }

    /// Calls at once when all are made.
    private var ceiling: Int
    private var state = State.closed
    private var era: UInt64 = 0
    /// All calls that ended lately, and the first attempts among them.
    private(set) var all: CallCounts
    private var fresh: CallCounts
    /// First attempts since the last reply: those that failed, and those that began.
    private var failuresInARow = 0
    private var begunInARow = 0
    /// When a first attempt was last answered, and how many failed since: kept through all phases.
    private var lastReply: Instant?
    private var failuresSinceReply = 0
    /// First attempts that were answered as probes: kept through the pauses that others cause.
    private var repliedProbes = 0
    /// Pauses since a probe was answered.
    private var pauses = 0
    /// When it left `closed`; nil while it is closed.
    private(set) var troubledSince: Instant?

    init(ceiling: Int) {
        self.ceiling = ceiling
        all = CallCounts(length: Policy.window)
        fresh = CallCounts(length: Policy.window)
    }

    /// Changes the calls at once when all are made.
    mutating func allow(calls ceiling: Int) { self.ceiling = ceiling }

    var phase: Phase {
        switch state {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        case .ramping: .ramping
        }
    }

    /// Whether submissions that need the target must wait.
    var isAway: Bool { phase == .open || phase == .halfOpen }

    /// Whether it is known to be away. If nobody has probed since its pause ended, that says nothing after some time.
    func isKnownAway(at now: Instant) -> Bool {
        switch state {
        case .open: true
        case .halfOpen(let probes): now - probes.since < Policy.silenceHolds
        case .closed, .ramping: false
        }
    }

    /// The phase for metrics and alerts. A half-open breaker that nobody has used for long is no trouble: where nothing
    /// is to be asked, its alert would never end.
    func shownPhase(at now: Instant) -> Phase { isAway && !isKnownAway(at: now) ? .closed : phase }

    /// Calls under way of a half-open phase. Calls that began before it do not count.
    var probesUnderWay: Int { if case .halfOpen(let probes) = state { probes.underWay } else { 0 } }

    /// When the passing of time alone changes what may be called; nil while it does not.
    var nextMoment: Instant? {
        switch state {
        case .open(let until): until
        case .ramping(_, let since): since + Policy.rampInterval
        case .closed, .halfOpen: nil
        }
    }

    /// Whether one more call may be made beside those under way, see ``room(inFlight:limit:isRetry:)``.
    func admits(inFlight: Int, limit: Int, isRetry: Bool = false) -> Bool {
        room(inFlight: inFlight, limit: limit, isRetry: isRetry) > 0
    }

    /// Calls that may be made beside those under way.
    /// - Parameters:
    ///   - limit: most calls at once by the other limits.
    ///   - isRetry: whether they are the first calls of retries. Retries leave one probe to first attempts, because
    ///     they may hang until their time limit for a reason of their own.
    func room(inFlight: Int, limit: Int, isRetry: Bool) -> Int {
        switch state {
        case .closed: max(0, limit - inFlight)
        case .open: 0
        case .halfOpen(let probes):
            max(0, min(Policy.probes - probes.underWay, isRetry ? Policy.probes - 1 - probes.others : Policy.probes))
        case .ramping(let step, _): max(0, min(limit, share(at: step)) - inFlight)
        }
    }

    /// Calls at once at a step of the ramp: at least one, half of all at the last step.
    private func share(at step: Int) -> Int {
        max(1, ceiling >> (Policy.rampSteps - step))
    }

    /// - Parameter isRetry: whether it is, or may be, made for a submission whose former attempt failed.
    mutating func began(isRetry: Bool, at now: Instant) -> Pass {
        all.begin(at: now)
        if !isRetry {
            fresh.begin(at: now)
            begunInARow += 1
        }
        if case .halfOpen(var probes) = state {
            probes.begin(isRetry: isRetry)
            state = .halfOpen(probes)
        }
        return Pass(era: era, isRetry: isRetry, began: now)
    }

    /// Lets time pass. Called before every question about the present.
    mutating func advance(to now: Instant) {
        all.advance(to: now)
        fresh.advance(to: now)
        switch state {
        case .open(let until):
            if now >= until { enter(.halfOpen(Probes(since: until))) }
        case .closed, .halfOpen: break
        case .ramping(let step, let since):
            if now - since >= Policy.rampInterval { climb(from: step, since: since, to: now) }
        }
    }

    /// Doubles the share once for each interval that passed, and closes at the end. Late failures keep the share as it
    /// is: each doubling brings enough new calls to hide them.
    private mutating func climb(from step: Int, since: Instant, to now: Instant) {
        let judged = onlyFirstTriesJudge(now) ? fresh.total : all.total
        let isDoubtful =
            judged.calls >= Policy.leastRampCalls && judged.endedFailureShare >= Policy.failureShare
        forget()
        guard !isDoubtful else { return state = .ramping(step: step, since: now) }
        let intervals = Int(min((now - since) / Policy.rampInterval, Double(Policy.rampSteps)))
        guard step + intervals < Policy.rampSteps else {
            state = .closed
            troubledSince = nil
            return
        }
        state = .ramping(step: step + intervals, since: since + Policy.rampInterval * intervals)
    }

    /// - Parameters:
    ///   - isRetry: whether it was made for a submission whose former attempt failed.
    ///   - unit: a random number in `0..<1`.
    mutating func ended(_ pass: Pass, _ outcome: CallOutcome, isRetry: Bool, at now: Instant, unit: Double) {
        advance(to: now)
        if case .limited(let wait?) = outcome {
            // A named moment holds whenever the call began; nobody may be early.
            repliedProbes = 0
            return open(for: max(wait, Policy.shortestPause), counts: pass.era == era, now)
        }
        let hasFailed = outcome == .failed || outcome == .overloaded
        if !isRetry { remember(outcome, hasFailed, now) }
        guard pass.era == era else { return }
        if outcome == .unknown { takeBack(pass) }
        switch state {
        case .open: break
        case .closed:
            if outcome == .limited(wait: nil) { return open(now, unit) }
            guard count(outcome, hasFailed, isRetry: isRetry, now) else { return }
            if isFailing(leastFresh: Policy.leastCalls, now) { open(now, unit) }
        case .halfOpen(var probes):
            probes.end(isRetry: pass.isRetry)
            if outcome == .limited(wait: nil) {
                repliedProbes = 0
                return open(now, unit)
            }
            // A first attempt under way will say more.
            let isJudged = !isRetry || probes.firstTries == 0 && !onlyFirstTriesJudge(now)
            if hasFailed, isJudged { return open(now, unit) }
            if outcome == .replied {
                if isRetry { probes.repliedRetries += 1 } else { repliedProbes += 1 }
                // It replies to some, so the next pause is as short as the first.
                pauses = 0
            }
            guard repliedProbes + probes.repliedRetries >= Policy.repliesToRamp else {
                return state = .halfOpen(probes)
            }
            repliedProbes = 0
            enter(.ramping(step: 0, since: now))
        case .ramping:
            if outcome == .limited(wait: nil) { return open(now, unit) }
            guard count(outcome, hasFailed, isRetry: isRetry, now) else { return }
            if isFailing(leastFresh: Policy.leastRampCalls, now) { open(now, unit) }
        }
    }

    private mutating func takeBack(_ pass: Pass) {
        all.takeBack(begunAt: pass.began)
        guard !pass.isRetry else { return }
        fresh.takeBack(begunAt: pass.began)
        begunInARow = max(0, begunInARow - 1)
    }

    /// - Returns: whether anything was learnt.
    private mutating func count(_ outcome: CallOutcome, _ hasFailed: Bool, isRetry: Bool, _ now: Instant) -> Bool {
        guard outcome != .unknown else { return false }
        all.add(isFailure: hasFailed, at: now)
        if !isRetry { fresh.add(isFailure: hasFailed, at: now) }
        if !hasFailed {
            failuresInARow = 0
            begunInARow = 0
        } else if !isRetry {
            failuresInARow += 1
        }
        return true
    }

    /// Remembers the result of a first attempt, whenever it began.
    private mutating func remember(_ outcome: CallOutcome, _ hasFailed: Bool, _ now: Instant) {
        if outcome == .replied {
            lastReply = now
            failuresSinceReply = 0
        } else if hasFailed {
            failuresSinceReply += 1
        }
    }

    /// Whether a first attempt had a reply lately, and hardly any failed since. Apple replies then, and failing retries
    /// have a reason of their own. On a quiet worker they would always outnumber the few first attempts.
    private func onlyFirstTriesJudge(_ now: Instant) -> Bool {
        guard let lastReply, failuresSinceReply < Policy.failuresToDoubt else { return false }
        return now - lastReply < Policy.replyHolds
    }

    /// Only first attempts count while there are any. A retry failed before, perhaps for a reason of its own, and many
    /// such submissions must not stop everybody's calls.
    private func isFailing(leastFresh: Int, _ now: Instant) -> Bool {
        let ended = Double(begunInARow) * Policy.endedShare
        if failuresInARow >= Policy.failuresInARow, Double(failuresInARow) >= ended { return true }
        if fresh.total.calls >= leastFresh { return fresh.total.failureShare >= Policy.failureShare }
        guard !onlyFirstTriesJudge(now) else { return false }
        return all.total.calls >= Policy.leastCalls && all.total.failureShare >= Policy.failureShare
    }

    private mutating func open(_ now: Instant, _ unit: Double) {
        // At least half of the ceiling, because a tiny pause would have no effect.
        let pause = Policy.pause.ceiling(afterFailures: pauses + 1) * (0.5 + unit / 2)
        open(for: pause, counts: true, now)
    }

    private mutating func open(for pause: Duration, counts: Bool, _ now: Instant) {
        if counts { pauses += 1 }
        if case .open(let until) = state { return state = .open(until: max(until, now + pause)) }
        if troubledSince == nil { troubledSince = now }
        enter(.open(until: now + pause))
    }

    /// Begins a phase; calls that were admitted before no longer count.
    private mutating func enter(_ next: State) {
        state = next
        era += 1
        forget()
    }

    private mutating func forget() {
        all.clear()
        fresh.clear()
        failuresInARow = 0
        begunInARow = 0
    }
}

extension CircuitBreaker {
    /// When calls to a target of Apple's stop, and how they begin again.
    enum Policy {
        /// Length of the window that the error share is measured over.
        static let window: Duration = .seconds(10)
        /// Fewest calls in the window for a conclusion: first attempts, or all calls if there are fewer first attempts.
        static let leastCalls = 20
        /// Calls stop when so many of them failed. An endpoint that replies to a fifth of its calls gives answers to a
        /// fifth of those who wait, and retries are bounded by ``RetryBudget``.
        static let failureShare = 0.9
        /// Calls stop after so many failed first attempts in a row. So the replies of the seconds before an outage do
        /// not hide it for long.
        static let failuresInARow = 50
        /// So many of the first attempts that began meanwhile must have ended. The others may still be answered.
        static let endedShare = 0.5
        /// For this long after a reply to a first attempt, failing retries do not open the breaker. They may fail for
        /// reasons of their own, and must not stop submissions that Apple would reply about. An outage that begins
        /// while nothing new comes is noticed so much later.
        static let replyHolds: Duration = .seconds(60)
        /// So many failed first attempts end that time. One or two do not, because senders of failing submissions also
        /// send new ones.
        static let failuresToDoubt = 3
        /// How long calls stop: from half of the ceiling up to the ceiling, which doubles each time they stop again
        /// without a reply in between.
        static let pause = Backoff(base: .seconds(1), cap: .seconds(15))
        /// Shortest pause that a target may ask for. A shorter or past one would not hold back many callers.
        static let shortestPause: Duration = .seconds(1)
        /// For so long after a pause the target counts as away while no probe has ended. A call may not take as long.
        static let silenceHolds: Duration = .seconds(150)
        /// Probes under way at most; all but one may be retries.
        static let probes = 2
        /// Answered probes after which calls begin again.
        static let repliesToRamp = 3
        /// How often the share of calls doubles until all are made: 6 begins with one 64th.
        static let rampSteps = 6
        /// How long a share lasts before it doubles.
        static let rampInterval: Duration = .seconds(1)
        /// Fewest first attempts within a share that can stop the calls again.
        static let leastRampCalls = 10
    }
}
