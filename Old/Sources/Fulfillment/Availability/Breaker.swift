/// Decides whether a target of Apple's is called at all. Pure: it is told the time and what came of the calls.
///
///     closed -> open -> halfOpen -> ramping -> closed
///                ^          |           |
///                +----------+-----------+
///
/// While it is open nothing is called and no attempt is counted; a few probes find out when that is over, and then the
/// calls come back by and by, because a service that just came up is brought down again by everybody who waited for it.
struct Breaker: Sendable {
    /// The raw values label metrics and logs.
    enum Phase: String, Hashable, Sendable, CaseIterable {
        case closed, open, halfOpen, ramping
    }

    /// A call that was let through, to be told of when it ended.
    struct Pass: Hashable, Sendable {
        /// Only what was let through in the present phase counts for it.
        fileprivate let era: UInt64
        fileprivate let isRetry: Bool
        fileprivate let began: Duration
    }

    private enum State: Sendable {
        /// All calls are made. -> `open`
        case closed
        /// None is. -> `halfOpen` at its end
        case open(until: Duration)
        /// A few are. -> `ramping`, `open`
        case halfOpen(Probes)
        /// A share is, which doubles. -> `closed`, `open`
        case ramping(step: Int, since: Duration)
    }

    /// The calls of a half-open phase.
    private struct Probes: Sendable {
        var firstTries = 0
        /// Retries, and what goes on.
        var others = 0
        /// Answers to retries: they count for this phase alone.
        var answeredRetries = 0

        var underWay: Int { firstTries + others }

        mutating func begin(isRetry: Bool) {
            if isRetry { others += 1 } else { firstTries += 1 }
        }

        mutating func end(isRetry: Bool) {
            if isRetry { others -= 1 } else { firstTries -= 1 }
        }
    }

    private let policy: BreakerPolicy
    /// Calls at once when all are made.
    private let ceiling: Int
    private var state = State.closed
    private var era: UInt64 = 0
    /// All calls that ended lately, and those of them that were no retries.
    private var all: RollingWindow
    private var fresh: RollingWindow
    /// First tries that failed since the last answer, and those that began since then.
    private var failuresInARow = 0
    private var begunInARow = 0
    /// When a first try was last answered, and how many failed since: kept through all phases.
    private var lastAnswer: Duration?
    private var failuresSinceAnswer = 0
    /// First tries that were answered as probes since one failed: kept through the pauses that retries cause.
    private var answeredProbes = 0
    /// Pauses since the last calm.
    private var pauses = 0
    private var closedSince: Duration = .zero
    /// When it left `closed`; nil while it is closed.
    private(set) var troubledSince: Duration?

    init(policy: BreakerPolicy, ceiling: Int) {
        self.policy = policy
        self.ceiling = ceiling
        all = RollingWindow(length: policy.window)
        fresh = RollingWindow(length: policy.window)
    }

    var phase: Phase {
        switch state {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        case .ramping: .ramping
        }
    }

    /// Whether what needs the target has to wait.
    var isAway: Bool { phase == .open || phase == .halfOpen }

    /// Calls that ended lately and what came of them.
    var recent: RollingWindow.Count { all.total }

    /// When the passing of time alone changes what may be called; nil while it does not.
    var nextMoment: Duration? {
        switch state {
        case .open(let until): until
        case .ramping(_, let since): since + policy.rampInterval
        case .closed, .halfOpen: nil
        }
    }

    /// Whether one more call may be made beside those under way.
    ///
    /// - Parameters:
    ///   - limit: most calls at once, as far as others than the breaker have a say.
    ///   - isRetry: whether it is the first call of another try. These leave a probe to first tries: the other may hang until
    ///     its time limit for a reason of its own.
    func admits(inFlight: Int, limit: Int, isRetry: Bool = false) -> Bool {
        switch state {
        case .closed: inFlight < limit
        case .open: false
        case .halfOpen(let probes):
            probes.underWay < policy.probes && !(isRetry && probes.others >= max(1, policy.probes - 1))
        case .ramping(let step, _): inFlight < min(limit, share(at: step))
        }
    }

    /// Calls at once at a step of the ramp: at least one, half of all at the last step.
    private func share(at step: Int) -> Int {
        max(1, ceiling >> (policy.rampSteps - step))
    }

    /// A call is made.
    ///
    /// - Parameter isRetry: whether it is, or may be, made for a submission whose try before failed.
    mutating func began(isRetry: Bool, elapsed: Duration) -> Pass {
        all.begin(elapsed: elapsed)
        if !isRetry {
            fresh.begin(elapsed: elapsed)
            begunInARow += 1
        }
        if case .halfOpen(var probes) = state {
            probes.begin(isRetry: isRetry)
            state = .halfOpen(probes)
        }
        return Pass(era: era, isRetry: isRetry, began: elapsed)
    }

    /// Lets time pass. Called before every question about the present.
    mutating func advance(to elapsed: Duration) {
        all.advance(to: elapsed)
        fresh.advance(to: elapsed)
        switch state {
        case .closed:
            if pauses > 0, elapsed - closedSince >= policy.calm { pauses = 0 }
        case .open(let until):
            if elapsed >= until { enter(.halfOpen(Probes())) }
        case .halfOpen: break
        case .ramping(let step, let since):
            if elapsed - since >= policy.rampInterval { climb(from: step, since: since, to: elapsed) }
        }
    }

    /// Doubles the share once for each interval that passed, and closes at the end. Slow answers keep it where it is, and so do
    /// failures that came late: each doubling brings as many new calls as would outvote them.
    private mutating func climb(from step: Int, since: Duration, to elapsed: Duration) {
        let judged = onlyFirstTriesJudge(elapsed) ? fresh.total : all.total
        let isDoubtful =
            isSlow(least: policy.leastRampCalls)
            || judged.calls >= policy.leastRampCalls && judged.endedFailureShare >= policy.failureShare
        forget()
        guard !isDoubtful else { return state = .ramping(step: step, since: elapsed) }
        let intervals = Int(min((elapsed - since) / policy.rampInterval, Double(policy.rampSteps)))
        guard step + intervals < policy.rampSteps else {
            state = .closed
            closedSince = elapsed
            troubledSince = nil
            return
        }
        state = .ramping(step: step + intervals, since: since + policy.rampInterval * intervals)
    }

    /// A call ended.
    ///
    /// - Parameters:
    ///   - isRetry: whether it was made for a submission whose try before failed.
    ///   - took: how long the call itself took.
    ///   - unit: makes a random number in `0..<1`, if one is needed.
    mutating func ended(
        _ pass: Pass, _ outcome: CallOutcome, isRetry: Bool, took: Duration, elapsed: Duration, unit: () -> Double
    ) {
        advance(to: elapsed)
        if case .limited(let wait?) = outcome {
            // A named moment holds whenever the call began; nobody may be early.
            answeredProbes = 0
            return open(for: max(wait, policy.shortestPause), counts: pass.era == era, elapsed)
        }
        let hasFailed = outcome == .failed || outcome == .overloaded
        if !isRetry { remember(outcome, hasFailed, elapsed) }
        guard pass.era == era else { return }
        if outcome == .unknown { takeBack(pass) }
        switch state {
        case .open: break
        case .closed:
            if outcome == .limited(wait: nil) { return open(elapsed, unit) }
            guard note(outcome, hasFailed, isRetry: isRetry, took, elapsed) else { return }
            if isFailing(leastFresh: policy.leastCalls, elapsed) || isSlow(least: policy.leastCalls) {
                open(elapsed, unit)
            }
        case .halfOpen(var probes):
            probes.end(isRetry: pass.isRetry)
            if outcome == .limited(wait: nil) {
                answeredProbes = 0
                return open(elapsed, unit)
            }
            // Of a first try that is under way more can be learnt.
            let isJudged = !isRetry || probes.firstTries == 0 && !onlyFirstTriesJudge(elapsed)
            if hasFailed, isJudged { return open(elapsed, unit) }
            if outcome == .answered {
                if isRetry { probes.answeredRetries += 1 } else { answeredProbes += 1 }
            }
            guard answeredProbes + probes.answeredRetries >= policy.answersToRamp else {
                return state = .halfOpen(probes)
            }
            answeredProbes = 0
            // It answers now and then at least: a relapse is not to cost it a pause as long as silence does.
            pauses = (pauses + 1) / 2
            enter(.ramping(step: 0, since: elapsed))
        case .ramping:
            if outcome == .limited(wait: nil) { return open(elapsed, unit) }
            guard note(outcome, hasFailed, isRetry: isRetry, took, elapsed) else { return }
            if isFailing(leastFresh: policy.leastRampCalls, elapsed) { open(elapsed, unit) }
        }
    }

    private mutating func takeBack(_ pass: Pass) {
        all.takeBack(begunAt: pass.began)
        guard !pass.isRetry else { return }
        fresh.takeBack(begunAt: pass.began)
        begunInARow = max(0, begunInARow - 1)
    }

    /// - Returns: whether anything was learnt.
    private mutating func note(
        _ outcome: CallOutcome, _ hasFailed: Bool, isRetry: Bool, _ took: Duration, _ elapsed: Duration
    ) -> Bool {
        guard outcome != .unknown else { return false }
        let isSlow = took >= policy.slowAfter
        all.add(isFailure: hasFailed, isSlow: isSlow, elapsed: elapsed)
        if !isRetry { fresh.add(isFailure: hasFailed, isSlow: isSlow, elapsed: elapsed) }
        if !hasFailed {
            failuresInARow = 0
            begunInARow = 0
        } else if !isRetry {
            failuresInARow += 1
        }
        return true
    }

    /// Remembers what came of a first try, whenever it began.
    private mutating func remember(_ outcome: CallOutcome, _ hasFailed: Bool, _ elapsed: Duration) {
        if outcome == .answered {
            lastAnswer = elapsed
            failuresSinceAnswer = 0
        } else if hasFailed {
            failuresSinceAnswer += 1
            answeredProbes = 0
        }
    }

    /// Whether a first try was answered lately, and hardly any failed since: Apple answers then, and retries that fail do so for
    /// a reason of their own. On a quiet worker they would outvote the few first tries for ever.
    private func onlyFirstTriesJudge(_ elapsed: Duration) -> Bool {
        guard let lastAnswer, failuresSinceAnswer < policy.failuresToDoubt else { return false }
        return elapsed - lastAnswer < policy.answerHolds
    }

    /// First tries are the judges while there are any: what is tried again failed before, perhaps for a reason of its own,
    /// and a crowd of such submissions must not stop everybody's calls.
    private func isFailing(leastFresh: Int, _ elapsed: Duration) -> Bool {
        // Unless most of what began meanwhile is still under way: it may be answered yet.
        let ended = Double(begunInARow) * policy.failureShare
        if failuresInARow >= policy.failuresInARow, Double(failuresInARow) >= ended { return true }
        if fresh.total.calls >= leastFresh { return fresh.total.failureShare >= policy.failureShare }
        guard !onlyFirstTriesJudge(elapsed) else { return false }
        return all.total.calls >= policy.leastCalls && all.total.failureShare >= policy.failureShare
    }

    private func isSlow(least: Int) -> Bool {
        all.total.calls >= least && all.total.slowShare >= policy.slowShare
    }

    private mutating func open(_ elapsed: Duration, _ unit: () -> Double) {
        // From half of the ceiling on: a pause of next to nothing would be none.
        let pause = policy.pause.delay(afterFailures: pauses + 1, unit: 0.5 + unit() / 2)
        open(for: pause, counts: true, elapsed)
    }

    private mutating func open(for pause: Duration, counts: Bool, _ elapsed: Duration) {
        if counts { pauses += 1 }
        if case .open(let until) = state { return state = .open(until: max(until, elapsed + pause)) }
        if troubledSince == nil { troubledSince = elapsed }
        enter(.open(until: elapsed + pause))
    }

    /// Begins a phase; calls that were let through before count no more.
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
