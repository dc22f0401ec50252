/// One target of Apple's as this worker sees it: whether it is called, how many calls at once, how many of them may be
/// retries, and who waits. Pure.
struct TargetCalls: Sendable {
    /// One of so many calls goes to what was never asked, while both that and retries wait: retries are older and go
    /// first, and fresh purchases are not to stand behind them for long.
    static let freshTurn = 4

    let target: CallTarget
    private(set) var breaker: Breaker
    private(set) var limit: ConcurrencyLimit
    private(set) var retries: RetryBudget
    private(set) var line = CallLine()
    /// Calls under way.
    private(set) var inFlight = 0
    private var turn = 0
    /// When its line is thinned next; nil while it is not away.
    private(set) var thinsAt: Duration?

    init(_ target: CallTarget, policy: AvailabilityPolicy, mostCalls: Int) {
        self.target = target
        breaker = Breaker(policy: policy.breaker, ceiling: mostCalls)
        limit = ConcurrencyLimit(policy: policy.concurrency, most: mostCalls)
        retries = RetryBudget(policy: policy.retries, mostCalls: mostCalls)
    }

    /// Whether anything was asked of it lately, or is about to be.
    var isInUse: Bool { inFlight > 0 || !line.isEmpty || breaker.recent.calls > 0 }

    /// Whether it is known to be away: its pause is not over, or somebody is finding out whether it is back. After a pause that
    /// nobody waited for nothing is known.
    var isKnownAway: Bool { breaker.phase == .open || breaker.isAway && (inFlight > 0 || !line.isEmpty) }

    /// What is counted over all targets.
    struct Standing: Hashable, Sendable {
        /// Who waits for it, if it is away.
        var waitingWhileAway = 0
        var isKnownAway = false
        /// Whether it is in use, if it is not known to be away.
        var isInUse = false
        /// Whether time or calls elsewhere may change something for it.
        var isActive = false
    }

    /// What is counted of it now. Changes nothing: a value of this size is copied, line and all, to be asked anything else.
    mutating func standing() -> Standing {
        let isKnownAway = isKnownAway
        return Standing(
            waitingWhileAway: breaker.isAway ? line.count : 0, isKnownAway: isKnownAway,
            isInUse: !isKnownAway && isInUse, isActive: breaker.troubledSince != nil || !line.isEmpty)
    }

    /// When the passing of time alone changes something; nil while it does not.
    ///
    /// - Parameter beginsTries: whether tries may begin.
    func nextMoment(beginsTries: Bool) -> Duration? {
        if let moment = breaker.nextMoment { return moment }
        let waitsForBudget =
            beginsTries && !line.isEmpty(.again) && line.isEmpty(.goingOn) && line.isEmpty(.first)
            && breaker.admits(inFlight: inFlight, limit: limit.value, isRetry: true)
        return waitsForBudget ? retries.nextMoment : nil
    }

    mutating func advance(to elapsed: Duration) {
        breaker.advance(to: elapsed)
    }

    mutating func append(_ id: CallerID, _ lane: CallLine.Lane) {
        line.append(id, lane)
    }

    mutating func remove(_ id: CallerID, _ lane: CallLine.Lane) -> Bool {
        line.remove(id, lane)
    }

    mutating func removeAll() -> [CallerID] {
        line.removeAll()
    }

    /// Begins and ends the thinning of its line with its being away.
    ///
    /// - Returns: whether the line is to be thinned now.
    mutating func isToBeThinned(elapsed: Duration, every interval: Duration) -> Bool {
        guard breaker.isAway else {
            thinsAt = nil
            return false
        }
        guard elapsed >= thinsAt ?? elapsed else { return false }
        thinsAt = elapsed + interval
        return true
    }

    /// Sends some away, as in ``CallLine/thin(atMost:mostAhead:)``.
    mutating func thin(atMost most: Int, mostAhead: (Asker) -> Int) -> [CallerID] {
        line.thin(atMost: most, mostAhead: mostAhead)
    }

    /// Lets the next one go, if one may.
    ///
    /// - Parameter beginsTries: whether tries may begin; else only those are finished that have begun.
    mutating func next(elapsed: Duration, beginsTries: Bool) -> (id: CallerID, lane: CallLine.Lane, pass: Breaker.Pass)?
    {
        guard !line.isEmpty else { return nil }
        breaker.advance(to: elapsed)
        guard breaker.admits(inFlight: inFlight, limit: limit.value),
            let lane = nextLane(elapsed: elapsed, beginsTries: beginsTries), let id = line.popFirst(lane)
        else { return nil }
        return (id, lane, begin(lane, elapsed))
    }

    /// Lets a call be made at once that nobody is ahead of.
    mutating func passAtOnce(_ lane: CallLine.Lane, elapsed: Duration) -> Breaker.Pass? {
        breaker.advance(to: elapsed)
        guard line.isEmpty, breaker.admits(inFlight: inFlight, limit: limit.value, isRetry: lane == .again),
            lane != .again || retries.take(elapsed: elapsed)
        else { return nil }
        return begin(lane, elapsed)
    }

    private mutating func begin(_ lane: CallLine.Lane, _ elapsed: Duration) -> Breaker.Pass {
        if lane == .first { retries.earn() }
        inFlight += 1
        return breaker.began(isRetry: lane != .first, elapsed: elapsed)
    }

    private mutating func nextLane(elapsed: Duration, beginsTries: Bool) -> CallLine.Lane? {
        if !line.isEmpty(.goingOn) { return .goingOn }
        guard beginsTries else { return nil }
        let hasRetries = !line.isEmpty(.again)
        let hasFresh = !line.isEmpty(.first)
        // What failed before may do so for a reason of its own, and says less about the target. The budget is for those whose
        // failures end no phase: they could follow one another at once.
        if breaker.phase == .halfOpen {
            if hasFresh { return .first }
            let mayProbe = hasRetries && breaker.admits(inFlight: inFlight, limit: limit.value, isRetry: true)
            return mayProbe && retries.take(elapsed: elapsed) ? .again : nil
        }
        if hasRetries, hasFresh { turn = (turn + 1) % Self.freshTurn }
        let isFreshTurn = hasFresh && turn == 0
        if hasRetries, !isFreshTurn, retries.take(elapsed: elapsed) { return .again }
        return hasFresh ? .first : nil
    }

    /// A call was not made after all.
    private mutating func takeBack(_ lane: CallLine.Lane) {
        switch lane {
        case .goingOn: break
        case .again: retries.giveBack()
        case .first: retries.unearn()
        }
    }

    /// A call ended.
    mutating func ended(
        _ pass: Breaker.Pass, _ lane: CallLine.Lane, _ outcome: CallOutcome, isRetry: Bool, took: Duration,
        elapsed: Duration, unit: () -> Double
    ) {
        breaker.advance(to: elapsed)
        // While nothing is answered, nothing is learnt about how many calls at once are too many.
        if !breaker.isAway { limit.ended(outcome, took: took, inFlight: inFlight, elapsed: elapsed) }
        breaker.ended(pass, outcome, isRetry: isRetry, took: took, elapsed: elapsed, unit: unit)
        if outcome == .unknown { takeBack(lane) }
        inFlight -= 1
    }
}
