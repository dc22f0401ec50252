import Purchases

/// Decides which calls to Apple are made now and which wait. Pure: callers tell it what they want and what came of it,
/// and resume whom it lets go.
struct CallAdmission: Sendable {
    /// Leave to make one call. Has to be given back with what came of it, or with ``CallOutcome/unknown``.
    struct Permit: Hashable, Sendable {
        fileprivate let target: Int
        fileprivate let lane: CallLine.Lane
        fileprivate let pass: Breaker.Pass
    }

    /// Somebody who may go.
    struct Admitted: Hashable, Sendable {
        let id: CallerID
        let permit: Permit
    }

    /// Somebody whom the line of a target that is away has sent away.
    struct SentAway: Hashable, Sendable {
        let id: CallerID
        let awayFor: Duration
    }

    /// A target stopped being called freely, or is again.
    struct Change: Hashable, Sendable {
        let target: CallTarget
        /// Nil when the trouble begins; else how long it lasted.
        let lasted: Duration?
        /// What the window held when it began.
        let recent: RollingWindow.Count
        /// Calls that wait for it.
        let waiting: Int
    }

    /// Most calls at once, to all targets together.
    let mostCalls: Int
    private(set) var targets: [TargetCalls]
    /// What is counted of each.
    private var standings: [TargetCalls.Standing]
    private let places: [CallTarget: Int]
    private(set) var inFlight = 0
    private(set) var waiting = 0
    /// Targets that are not called freely.
    private var troubled = 0
    /// Who waits for targets that are away, but for production's verifyReceipt.
    private(set) var waitingForAway = 0
    /// Production's targets that are known to be away, and those of the others that are in use.
    private var productionAway = 0
    private var productionInUse = 0
    /// In order, the places of all that are not called freely or have somebody in line: there may be thousands of others, and
    /// nothing is to be done for them.
    private var active: [Int] = []
    /// Where the last call went; the next begins behind it, so that no target starves another of the common bound.
    private var cursor = 0
    private var changes: [Change] = []
    /// Whether the ledger takes what is given to it. While it does not, no call is spent on another try.
    private(set) var ledgerAnswers = true
    /// As many as wait for a target give it all the probes that it needs.
    private let enoughToProbe: Int
    /// How often the line of a target that is away is looked at.
    private let thinInterval: Duration
    private var sentAway: [SentAway] = []
    /// When ``holdsDue`` was last true.
    private var heldDueUntil: Duration = .zero
    /// Nothing begins any more.
    private(set) var isClosed = false

    init(targets: [CallTarget], policy: AvailabilityPolicy, mostCalls: Int) {
        self.mostCalls = max(1, mostCalls)
        enoughToProbe = policy.breaker.answersToRamp
        thinInterval = policy.breaker.pause.cap
        self.targets = targets.map { TargetCalls($0, policy: policy, mostCalls: max(1, mostCalls)) }
        standings = Array(repeating: TargetCalls.Standing(), count: targets.count)
        places = Dictionary(targets.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// Whether a target is not called freely: away, probed, or on its way back.
    func isTroubled(_ target: CallTarget) -> Bool {
        places[target].map { targets[$0].breaker.phase != .closed } ?? false
    }

    /// How long a target has been away, if somebody is not to stand in its line because enough do already; else nil.
    ///
    /// While intake is held, what comes from the topic stands there all the same: in its place the next would be read, and
    /// the ledger would take the whole topic. ``takeSentAway()`` lets a few go at a time then.
    func isCrowded(_ target: CallTarget, for asker: Asker, elapsed: Duration) -> Duration? {
        guard let place = places[target], targets[place].breaker.isAway else { return nil }
        let isHeld = holdsIntake
        guard !isHeld || asker == .ledger && !holdsDue else { return nil }
        guard targets[place].line.count >= mostAhead(of: asker, at: place, isHeld: isHeld) else { return nil }
        return awayFor(place, elapsed)
    }

    /// Those whom a crowded line has sent away since this was last asked.
    mutating func takeSentAway() -> [SentAway] {
        guard !sentAway.isEmpty else { return [] }
        defer { sentAway = [] }
        return sentAway
    }

    /// How many others may wait for a target that is away, for one to stand in its line.
    ///
    /// Targets that are away share what may wait for them, because they share the places: those of one key's apps go away
    /// together. Each has its probes besides, unless there are too many of such targets even for that.
    private func mostAhead(of asker: Asker, at place: Int, isHeld: Bool) -> Int {
        let others = { waitingForAway - (countsAsAway(place) ? standings[place].waitingWhileAway : 0) }
        // When a pause is over one may wait in any case: others may use all calls, and then nobody probes in passing.
        let least = targets[place].breaker.phase == .halfOpen ? 1 : 0
        switch asker {
        case .patient: return .max
        case .ledger: return others() < mostCalls / 8 ? enoughToProbe : least
        case .topic:
            guard countsAsAway(place) else { return .max }
            let share = mostCalls / (isHeld ? 8 : 4)
            let left = share - others()
            return max(least, left > -share / 2 ? max(left, min(share, enoughToProbe)) : 0)
        }
    }

    /// When production's verifyReceipt is away Apple is, and all that is read waits for it.
    private func countsAsAway(_ place: Int) -> Bool { targets[place].target != .verifyReceipt(.production) }

    /// Not counting the time in which all of Apple was: targets come back one after the other, and what waited for the last of
    /// them is not to wait for another quarter of that.
    private func awayFor(_ place: Int, _ elapsed: Duration) -> Duration {
        guard let since = targets[place].breaker.troubledSince else { return .zero }
        return elapsed - max(since, heldDueUntil)
    }

    /// Sends those away who stand in crowded lines, when their targets go away and every now and then while they are.
    ///
    /// While intake is held because of others than production's verifyReceipt, only so many go each time, but almost to the
    /// last one: nothing else is known to be in use, and what is read in their place may show that something is.
    private mutating func thin(_ elapsed: Duration) {
        guard troubled > 0 else { return }
        let isAllHeld = holdsDue
        if isAllHeld { heldDueUntil = elapsed }
        // Who is sent away changes what is active.
        for place in active where targets[place].isToBeThinned(elapsed: elapsed, every: thinInterval) {
            guard !isAllHeld, !targets[place].line.isEmpty else { continue }
            let isHeld = holdsIntake
            let ofTopic = mostAhead(of: .topic, at: place, isHeld: isHeld)
            let ofLedger = mostAhead(of: .ledger, at: place, isHeld: isHeld)
            let mostGone = isHeld ? max(1, mostCalls / 4) : .max
            let gone = tracked(place) {
                $0.thin(atMost: mostGone) { asker in
                    switch asker {
                    case .topic: ofTopic
                    case .ledger: ofLedger
                    case .patient: .max
                    }
                }
            }
            waiting -= gone.count
            sentAway += gone.map { SentAway(id: $0, awayFor: awayFor(place, elapsed)) }
        }
    }

    /// Whether Apple's part of the intake would only wait: something that production is asked for is away, and nothing
    /// else of production's is in use.
    var holdsIntake: Bool {
        productionAway > 0 && productionInUse == 0
    }

    /// Whether what is due in the ledger would only wait as well: intake is held, and the target that any app may need is
    /// away, so that it is Apple that is away and not a few apps' keys that are refused.
    var holdsDue: Bool {
        guard let place = places[.verifyReceipt(.production)], targets[place].isKnownAway else { return false }
        return holdsIntake
    }

    /// The earliest moment at which the passing of time alone changes something; nil while it does not.
    var nextMoment: Duration? {
        guard troubled > 0 || waiting > 0 else { return nil }
        let callsMoment = nextMomentOfCalls
        var earliest = callsMoment
        for place in active where !targets[place].line.isEmpty {
            guard let moment = targets[place].thinsAt else { continue }
            earliest = min(earliest ?? moment, moment)
        }
        return earliest
    }

    private var nextMomentOfCalls: Duration? {
        let beginsTries = ledgerAnswers && inFlight < mostCalls
        var earliest: Duration?
        for place in active {
            guard let moment = targets[place].nextMoment(beginsTries: beginsTries) else { continue }
            earliest = min(earliest ?? moment, moment)
        }
        return earliest
    }

    /// What began or ended since this was last asked.
    mutating func takeChanges() -> [Change] {
        guard !changes.isEmpty else { return [] }
        defer { changes = [] }
        return changes
    }

    /// Asks to make a call at once; nil if it has to wait, or nothing begins any more.
    ///
    /// - Precondition: the target is one of those it was made with.
    mutating func permitAtOnce(for target: CallTarget, _ lane: CallLine.Lane, elapsed: Duration) -> Permit? {
        guard let place = places[target], inFlight < mostCalls, lane == .goingOn || (ledgerAnswers && !isClosed)
        else { return nil }
        guard let pass = observed(place, elapsed, { $0.passAtOnce(lane, elapsed: elapsed) }) else { return nil }
        inFlight += 1
        cursor = place
        return Permit(target: place, lane: lane, pass: pass)
    }

    /// Stands in line.
    ///
    /// - Returns: who may go now, which may be the one who came; nil if nothing begins any more, and nobody waits.
    mutating func wait(
        _ id: CallerID, for target: CallTarget, _ lane: CallLine.Lane, elapsed: Duration
    ) -> [Admitted]? {
        guard !isClosed, let place = places[target] else { return nil }
        tracked(place) { $0.append(id, lane) }
        waiting += 1
        return admit(elapsed)
    }

    /// Somebody gave up waiting; harmless for who does not wait any more.
    mutating func withdraw(_ id: CallerID, from target: CallTarget, _ lane: CallLine.Lane) {
        guard let place = places[target], tracked(place, { $0.remove(id, lane) }) else { return }
        waiting -= 1
    }

    /// A call ended, or was not made.
    ///
    /// - Returns: who may go now.
    mutating func ended(
        _ permit: Permit, _ outcome: CallOutcome, isRetry: Bool, took: Duration, elapsed: Duration, unit: () -> Double
    ) -> [Admitted] {
        observed(permit.target, elapsed) {
            $0.ended(permit.pass, permit.lane, outcome, isRetry: isRetry, took: took, elapsed: elapsed, unit: unit)
        }
        inFlight -= 1
        thin(elapsed)
        return admit(elapsed)
    }

    /// Time has passed.
    ///
    /// - Returns: who may go now.
    mutating func advance(to elapsed: Duration) -> [Admitted] {
        for place in targets.indices { observed(place, elapsed) { $0.advance(to: elapsed) } }
        thin(elapsed)
        return admit(elapsed)
    }

    /// The ledger went away or came back.
    ///
    /// - Returns: who may go now.
    mutating func ledger(answers: Bool, elapsed: Duration) -> [Admitted] {
        ledgerAnswers = answers
        return admit(elapsed)
    }

    /// Nothing begins from now on; tries that have begun may go on where they can at once.
    ///
    /// - Returns: all who wait, to be sent away.
    mutating func close() -> [CallerID] {
        isClosed = true
        waiting = 0
        var all: [CallerID] = []
        for place in active { all += tracked(place) { $0.removeAll() } }
        return all
    }

    /// Lets calls be made, one of each target in turn, while there is room for them.
    private mutating func admit(_ elapsed: Duration) -> [Admitted] {
        var admitted: [Admitted] = []
        var blocked = 0
        while waiting > 0, inFlight < mostCalls, blocked < active.count {
            let place = active.first { $0 > cursor } ?? active[0]
            cursor = place
            let beginsTries = ledgerAnswers
            guard !targets[place].line.isEmpty,
                let next = observed(place, elapsed, { $0.next(elapsed: elapsed, beginsTries: beginsTries) })
            else {
                blocked += 1
                continue
            }
            blocked = 0
            waiting -= 1
            inFlight += 1
            admitted.append(
                Admitted(id: next.id, permit: Permit(target: place, lane: next.lane, pass: next.pass)))
        }
        return admitted
    }

    /// Does something with a target and keeps what is counted of all right.
    @discardableResult
    private mutating func tracked<Result>(_ place: Int, _ body: (inout TargetCalls) -> Result) -> Result {
        let result = body(&targets[place])
        let before = standings[place]
        let after = targets[place].standing()
        guard after != before else { return result }
        standings[place] = after
        if countsAsAway(place) { waitingForAway += after.waitingWhileAway - before.waitingWhileAway }
        if targets[place].target.environment == .production {
            productionAway += (after.isKnownAway ? 1 : 0) - (before.isKnownAway ? 1 : 0)
            productionInUse += (after.isInUse ? 1 : 0) - (before.isInUse ? 1 : 0)
        }
        if after.isActive != before.isActive {
            let index = active.firstIndex { $0 >= place } ?? active.endIndex
            if before.isActive { active.remove(at: index) } else { active.insert(place, at: index) }
        }
        return result
    }

    /// Does something with a target and takes down what it changed.
    @discardableResult
    private mutating func observed<Result>(
        _ place: Int, _ elapsed: Duration, _ body: (inout TargetCalls) -> Result
    ) -> Result {
        let before = targets[place].breaker.troubledSince
        let recent = targets[place].breaker.recent
        let result = tracked(place, body)
        let after = targets[place].breaker.troubledSince
        if before != after {
            troubled += (after == nil ? 0 : 1) - (before == nil ? 0 : 1)
            if let before { note(place, lasted: elapsed - before, recent) }
            if after != nil { note(place, lasted: nil, recent) }
        }
        return result
    }

    private mutating func note(_ place: Int, lasted: Duration?, _ recent: RollingWindow.Count) {
        changes.append(
            Change(
                target: targets[place].target, lasted: lasted, recent: recent, waiting: targets[place].line.count))
    }
}
