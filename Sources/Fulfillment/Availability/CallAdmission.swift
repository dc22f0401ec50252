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
    private let places: [CallTarget: Int]
    private(set) var inFlight = 0
    private(set) var waiting = 0
    /// Targets that are not called freely.
    private var troubled = 0
    /// Where the last call went; the next begins behind it, so that no target starves another of the common bound.
    private var cursor = 0
    private var changes: [Change] = []
    /// Whether the ledger takes what is given to it. While it does not, no call is spent on another try.
    private(set) var ledgerAnswers = true
    /// Nothing begins any more.
    private(set) var isClosed = false

    init(targets: [CallTarget], policy: AvailabilityPolicy, mostCalls: Int) {
        self.mostCalls = max(1, mostCalls)
        self.targets = targets.map { TargetCalls($0, policy: policy, mostCalls: max(1, mostCalls)) }
        places = Dictionary(targets.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// Whether a target is not called freely: away, probed, or on its way back.
    func isTroubled(_ target: CallTarget) -> Bool {
        places[target].map { targets[$0].breaker.phase != .closed } ?? false
    }

    /// Whether Apple's part of the intake would only wait: something that production is asked for is away, and nothing
    /// else of production's is in use.
    var holdsIntake: Bool {
        guard troubled > 0 else { return false }
        var isAnyAway = false
        for place in targets.indices where targets[place].target.environment == .production {
            if targets[place].breaker.isAway {
                isAnyAway = true
            } else if targets[place].isInUse {
                return false
            }
        }
        return isAnyAway
    }

    /// The earliest moment at which the passing of time alone changes something; nil while it does not.
    var nextMoment: Duration? {
        guard troubled > 0 || waiting > 0 else { return nil }
        let beginsTries = ledgerAnswers && inFlight < mostCalls
        var earliest: Duration?
        for place in targets.indices {
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
        targets[place].append(id, lane)
        waiting += 1
        return admit(elapsed)
    }

    /// Somebody gave up waiting; harmless for who does not wait any more.
    mutating func withdraw(_ id: CallerID, from target: CallTarget, _ lane: CallLine.Lane) {
        guard let place = places[target], targets[place].remove(id, lane) else { return }
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
        return admit(elapsed)
    }

    /// Time has passed.
    ///
    /// - Returns: who may go now.
    mutating func advance(to elapsed: Duration) -> [Admitted] {
        for place in targets.indices { observed(place, elapsed) { $0.advance(to: elapsed) } }
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
        for place in targets.indices { all += targets[place].removeAll() }
        return all
    }

    /// Lets calls be made, one of each target in turn, while there is room for them.
    private mutating func admit(_ elapsed: Duration) -> [Admitted] {
        var admitted: [Admitted] = []
        var blocked = 0
        while waiting > 0, inFlight < mostCalls, blocked < targets.count {
            cursor = (cursor + 1) % targets.count
            let place = cursor
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

    /// Does something with a target and takes down what it changed.
    @discardableResult
    private mutating func observed<Result>(
        _ place: Int, _ elapsed: Duration, _ body: (inout TargetCalls) -> Result
    ) -> Result {
        let before = targets[place].breaker.troubledSince
        let recent = targets[place].breaker.recent
        let result = body(&targets[place])
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
