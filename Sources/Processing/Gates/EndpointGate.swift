public import Contract
import Scheduling

/// A service of Apple's or of the platform's that this worker calls.
public enum GateKey: Hashable, Sendable {
    case apple(Endpoint)
    /// An app's fulfilment service.
    case service(BundleID)
}

/// The questions of gates about submissions in flight.
protocol WaitingSubmissions {
    /// Whether a submission still waits for its gate.
    func isWaiting(_ token: SubmissionToken) -> Bool
    /// Whether it is a due row of `retries`.
    func isRow(_ token: SubmissionToken) -> Bool
}

/// Decides which calls to one endpoint are made now, and keeps the submissions that wait for their calls.
///
/// A circuit breaker decides whether the endpoint is called at all. A concurrency limiter bounds the calls at once, a
/// rate limiter the calls a second, and a budget the retries among them.
struct EndpointGate: Sendable {
    /// The kind of a call for its submission.
    enum Lane: Sendable {
        /// A further call of an attempt that has begun, so that the results of its former calls are not lost.
        case continuation
        /// A repetition of a failed attempt, in memory or of a due row.
        case retry
        /// Of a record, or of a row that was never asked about.
        case first
    }

    /// Permission for one call, returned at its end.
    struct Pass: Sendable {
        let lane: Lane
        fileprivate let breaker: CircuitBreaker.Pass
    }

    /// One of so many calls is a retry while both first attempts and retries wait.
    private static let retryTurn = 4
    /// Longest wait in memory: of a record for the rate limit, and of a follow-up call for the end of an outage.
    private static let longestWait: Duration = .seconds(30)
    /// While gates are half full, an endpoint counts as away after so long without a reply. If its calls take long, it
    /// has twice their time. No record waits longer for the rate limit then.
    static let crowdedWait: Duration = .seconds(1)
    /// Once gates are mostly full, records do not wait for an endpoint whose calls take longer. They would hold the
    /// room of those that need no call. Long enough that a busy processor's delays are not taken for the endpoint's.
    private static let slowCall: Duration = .seconds(2)
    /// While records wait, due rows may be one of so many.
    private static let rowTurn = 4

    let key: GateKey
    private(set) var breaker: CircuitBreaker
    private var limiter: ConcurrencyLimiter
    /// Most calls at once that the configuration allows.
    private var allowed: Int
    private var rate: RateLimiter?
    private var budget: RetryBudget
    private var continuations = FIFO<SubmissionToken>()
    private var retries = FIFO<SubmissionToken>()
    private var firsts = FIFO<SubmissionToken>()
    /// Submissions in the queues that were not withdrawn.
    private(set) var waiting = 0
    /// The due rows among them.
    private var waitingRows = 0
    private(set) var inFlight = 0
    /// Submissions that wait in the delay queue to repeat their attempt here.
    var delayed = 0
    private var turn = 0
    /// Whether it has refused a retry while it was half-open, since the latest end of a call.
    private var hasRefusedRetry = false
    /// The moment of the latest reply, or of the end of the latest time without calls and waiting submissions.
    private var lastSign = Instant(nanoseconds: 0)
    /// From this moment on its rows of `retries` are taken before they are due, because it replies again. Nil if only
    /// due rows are taken.
    var takesEarlySince: Timestamp?
    var takesEarly: Bool { takesEarlySince != nil }
    /// The words of the latest failed call; nil once one had a reply while nothing was wrong.
    private(set) var fault: String?
    /// The words and moment of the latest failed call since it was in trouble. Replies to other calls do not clear it,
    /// because one grant's calls may fail alone.
    var latestFault: (words: String, at: Instant)?
    /// Since when it is in trouble, as the log says, and when the log said so last.
    var troubledSinceTold: Instant?
    var troubleToldAt: Instant?
    /// Whether due rows were asked for as its probes, since its latest pause ended.
    var isProbing = false
    /// Whether the table has it among those that have work.
    var isActive = false

    init(key: GateKey, rate: Double?, mostCalls: Int) {
        self.key = key
        breaker = CircuitBreaker(ceiling: mostCalls)
        limiter = ConcurrencyLimiter(most: mostCalls)
        allowed = mostCalls
        self.rate = rate.map { RateLimiter(rate: $0) }
        budget = RetryBudget(mostCalls: mostCalls)
    }

    /// Submissions and calls that it keeps in memory.
    var held: Int { waiting + inFlight + delayed }
    /// The submissions among them that count against the allowance of all gates. Calls for grants have the outbox's
    /// allowance.
    var heldSubmissions: Int { service == nil ? held : 0 }
    /// Whether time or work elsewhere may change something.
    var hasWork: Bool { held > 0 || breaker.phase != .closed || takesEarly }

    /// Applies another rate limit; calls that were made under the old one count.
    mutating func setRate(_ next: Double?) {
        guard let next else { return rate = nil }
        if rate == nil { rate = RateLimiter(rate: next) } else { rate?.change(to: next) }
    }

    /// Allows another number of calls at once, and forgets the learnt limit.
    mutating func allow(calls most: Int) {
        guard most != allowed else { return }
        allowed = most
        limiter = ConcurrencyLimiter(most: most)
        breaker.allow(calls: most)
    }

    /// The app whose fulfilment service it is; nil for Apple's.
    var service: BundleID? { if case .service(let app) = key { app } else { nil } }

    // MARK: Waiting

    /// - Parameter isRow: whether it is a due row.
    mutating func enter(_ token: SubmissionToken, _ lane: Lane, isRow: Bool, at now: Instant) {
        if waiting + inFlight == 0 { lastSign = now }
        switch lane {
        case .continuation: continuations.append(token)
        case .retry: retries.append(token)
        case .first: firsts.append(token)
        }
        waiting += 1
        if isRow { waitingRows += 1 }
    }

    /// A submission that waits here is gone; its token is skipped when its turn comes.
    mutating func withdraw(isRow: Bool) {
        waiting -= 1
        if isRow { waitingRows -= 1 }
    }

    private var waitingRecords: Int { waiting - waitingRows }

    // MARK: Shedding

    /// Why submissions should not wait for it in memory.
    enum Excess: Sendable {
        /// It replies to nobody. A few wait, to notice its return.
        case away
        /// Its rate limit means too long a wait for the last record. Rows have a share of the calls.
        case beyondRate
        /// Its calls take long. A few records wait, to notice when that ends, and rows have a share of the calls.
        case slow

        /// Whether due rows stay. Only records count then.
        fileprivate var keepsRows: Bool { self != .away }
    }

    /// Removes submissions that should not wait for it, newest first, and continuations last. While it is not known to
    /// be away, its calls are its probes.
    ///
    /// Follow-up calls go with a long outage, or where they would fill the allowance of all gates. Otherwise they would
    /// stay until its end, and stop all reading.
    mutating func shed(
        crowding: Crowding, at now: Instant, in flights: some WaitingSubmissions
    ) -> (excess: Excess, gone: [SubmissionToken])? {
        guard let (excess, most) = mostWaiting(crowding: crowding, at: now) else { return nil }
        let keepsRows = excess.keepsRows
        let shedsContinuations = !keepsRows && (crowding >= .half || isAwayForLong(at: now))
        guard counted(for: excess) > most else { return nil }
        var kept = shedsContinuations ? 0 : continuations.count
        var gone: [SubmissionToken] = []
        func thin(_ lane: inout FIFO<SubmissionToken>) {
            var rest = FIFO<SubmissionToken>()
            while let token = lane.popFirst() {
                guard flights.isWaiting(token) else { continue }
                let isCounted = !keepsRows || !flights.isRow(token)
                if kept < most || !isCounted { rest.append(token) } else { gone.append(token) }
                if isCounted { kept += 1 }
            }
            lane = rest
        }
        if shedsContinuations { thin(&continuations) }
        // First attempts say more about an endpoint, so they stay as its probes.
        thin(&firsts)
        thin(&retries)
        waiting -= gone.count
        waitingRows -= gone.count { flights.isRow($0) }
        return (excess, gone)
    }

    /// How many submissions may wait for it in memory, and why no more; nil while all may.
    private func mostWaiting(crowding: Crowding, at now: Instant) -> (Excess, most: Int)? {
        if breaker.isAway { return (.away, CircuitBreaker.Policy.repliesToRamp) }
        let probes = CircuitBreaker.Policy.repliesToRamp - inFlight
        if crowding == .mostly, isSlow { return (.slow, probes) }
        if crowding >= .half, isSilent(at: now) { return (.away, probes) }
        return rate.map { (.beyondRate, $0.calls(within: crowding >= .half ? Self.crowdedWait : Self.longestWait)) }
    }

    /// How many more records may wait for it in memory; below 0 before the others are shed.
    func roomForRecords(crowding: Crowding, at now: Instant) -> Int {
        guard let (excess, most) = mostWaiting(crowding: crowding, at: now) else { return .max }
        return most - counted(for: excess)
    }

    private func counted(for excess: Excess) -> Int { excess.keepsRows ? waitingRecords : waiting }

    private var isSlow: Bool { limiter.latest.map { $0 > Self.slowCall } ?? false }

    /// Whether a follow-up call has waited, or will wait, so long that its attempt may as well begin anew.
    private func isAwayForLong(at now: Instant) -> Bool {
        guard breaker.isAway, let since = breaker.troubledSince else { return false }
        return max(now, breaker.nextMoment ?? now) - since > Self.longestWait
    }

    /// Whether it has work and has not replied for so long that it may be away.
    func isSilent(at now: Instant) -> Bool { waiting + inFlight > 0 && now - lastSign >= silence }

    /// For so long a call may have no reply: no shorter than calls take lately.
    private var silence: Duration { max(Self.crowdedWait, (limiter.latest ?? .zero) * 2) }

    /// Whether a call under way, or a submission here, finds out whether it is back. Calls that began before its pause
    /// do not: they may hang for long.
    var hasProbe: Bool { waiting + delayed + breaker.probesUnderWay > 0 }

    /// How long it has been away; zero where it is only silent.
    func awayFor(at now: Instant) -> Duration { breaker.troubledSince.map { now - $0 } ?? .zero }

    /// Whether a failed call says nothing about the submission that it was made for.
    var isTroubled: Bool { breaker.phase != .closed }

    // MARK: Calls

    mutating func advance(to now: Instant) {
        breaker.advance(to: now)
        limiter.advance(to: now, inFlight: inFlight)
    }

    /// Lets the next submission go, if one may.
    mutating func next(at now: Instant, in flights: some WaitingSubmissions) -> (token: SubmissionToken, pass: Pass)? {
        while waiting > 0 {
            guard let lane = nextLane(at: now) else { return nil }
            guard let token = pop(lane) else { return nil }
            guard flights.isWaiting(token) else { continue }
            waiting -= 1
            if flights.isRow(token) { waitingRows -= 1 }
            if lane == .retry { _ = budget.take(at: now) }
            return (token, begin(lane, at: now))
        }
        return nil
    }

    /// Permission for a call without a waiting submission, if it may be made at once.
    mutating func pass(_ lane: Lane, at now: Instant) -> Pass? {
        advance(to: now)
        guard waiting == 0, mayCall(isRetry: lane == .retry, at: now) else {
            if lane == .retry, breaker.phase == .halfOpen { hasRefusedRetry = true }
            return nil
        }
        return begin(lane, at: now)
    }

    var mostCalls: Int { limiter.value }

    /// Whether the retry budget has a call for one more submission that is to repeat its attempt here. Others would wait
    /// for the budget in memory, and keep records from being read.
    mutating func hasBudgetForRepeat(at now: Instant) -> Bool { budget.available(at: now) > delayed + retries.count }

    /// Due rows of `retries` that may be taken for it: as many as it has calls now. A few may wait here to be its
    /// probes.
    ///
    /// While records wait, rows may be a quarter of them or of its calls. Otherwise rows would wait as long as more
    /// records come than it has calls for. The retry budget counts when the rows are asked about, because it does not
    /// bound first attempts. Delayed submissions do not count. With `retries` full they wait until due rows have left
    /// it, and due rows would wait for them.
    mutating func dueRoom(at now: Instant) -> Int {
        advance(to: now)
        if breaker.phase == .halfOpen {
            return max(0, CircuitBreaker.Policy.repliesToRamp - waiting - breaker.probesUnderWay)
        }
        var calls = breaker.room(inFlight: 0, limit: limiter.value, isRetry: false)
        guard calls > 0 else { return 0 }
        // It may be away. More rows than one to find out would go back unasked.
        if isSilent(at: now) { return max(0, min(1, CircuitBreaker.Policy.repliesToRamp - inFlight) - waitingRows) }
        // More would only wait here for the rate limit.
        if let rate { calls = min(calls, max(1, rate.calls(within: Self.crowdedWait))) }
        let free = max(0, calls - inFlight - waiting)
        guard waiting > 0 else { return free }
        let share = waitingRecords > 0 ? max(1, max(calls, waitingRecords) / Self.rowTurn) - waitingRows : 0
        return max(free / Self.rowTurn, share)
    }

    /// Rows of the outbox that may be taken for it: as many as ``pass(_:at:)`` lets go, because none waits here.
    ///
    /// While it is half-open, a probe may be left that must not be a retry. A row is taken for it. If the row turns out
    /// a retry, no further one is taken before a call has ended. Else rows would be leased and given back again and
    /// again.
    mutating func callRoom(at now: Instant) -> Int {
        advance(to: now)
        let room = breaker.room(inFlight: inFlight, limit: limiter.value, isRetry: true)
        guard room == 0, !hasRefusedRetry else { return room }
        return breaker.room(inFlight: inFlight, limit: limiter.value, isRetry: false)
    }

    /// Whether ``callRoom(at:)`` is worth a call to the ledger: room for a quarter of its calls, or for a probe. Else
    /// each end of a call of a busy gate would lead to a look for one row.
    mutating func isCallRoomWorthACall(at now: Instant) -> Bool {
        let room = callRoom(at: now)
        return room > 0 && (breaker.isAway || room * 4 >= room + inFlight)
    }

    private mutating func mayCall(isRetry: Bool, at now: Instant) -> Bool {
        breaker.admits(inFlight: inFlight, limit: limiter.value, isRetry: isRetry)
            && (rate == nil || rate?.admits(at: now) == true)
    }

    private mutating func nextLane(at now: Instant) -> Lane? {
        guard mayCall(isRetry: false, at: now) else { return nil }
        if !continuations.isEmpty { return .continuation }
        let mayRetry =
            !retries.isEmpty && budget.available(at: now) > 0
            && breaker.admits(inFlight: inFlight, limit: limiter.value, isRetry: true)
        guard !firsts.isEmpty else { return mayRetry ? .retry : nil }
        // A retry may fail for a reason of its own, and says less about the endpoint.
        guard mayRetry, breaker.phase != .halfOpen else { return .first }
        turn = (turn + 1) % Self.retryTurn
        return turn == 0 ? .retry : .first
    }

    private mutating func pop(_ lane: Lane) -> SubmissionToken? {
        switch lane {
        case .continuation: continuations.popFirst()
        case .retry: retries.popFirst()
        case .first: firsts.popFirst()
        }
    }

    private mutating func begin(_ lane: Lane, at now: Instant) -> Pass {
        if lane == .first { budget.earn() }
        rate?.take()
        inFlight += 1
        limiter.began(inFlight: inFlight)
        return Pass(lane: lane, breaker: breaker.began(isRetry: lane != .first, at: now))
    }

    /// - Parameters:
    ///   - isRetry: whether an attempt for its submission failed before.
    ///   - unit: a random number in `0..<1`.
    mutating func ended(
        _ pass: Pass, _ outcome: CallOutcome, isRetry: Bool, took: Duration, at now: Instant, unit: Double
    ) {
        advance(to: now)
        // Without replies nothing is known about the right number of calls at once.
        if !breaker.isAway { limiter.ended(outcome, took: took, inFlight: inFlight, at: now) }
        breaker.ended(pass.breaker, outcome, isRetry: isRetry, at: now, unit: unit)
        if outcome == .replied { lastSign = now }
        hasRefusedRetry = false
        if outcome == .unknown {
            rate?.giveBack()
            if pass.lane == .retry { budget.giveBack() }
            if pass.lane == .first { budget.unearn() }
        }
        inFlight -= 1
    }

    /// Keeps the words of a call that has ended, and failed unless they are nil.
    mutating func note(_ words: String?, at now: Instant) {
        if words != nil || breaker.phase == .closed { fault = words }
        if let words { latestFault = (words, now) }
    }

    /// When the passing of time alone changes something; nil while it does not.
    func nextMoment(crowding: Crowding, after now: Instant) -> Instant? {
        if let moment = breaker.nextMoment { return moment }
        guard waiting > 0 else { return nil }
        var earliest: Instant?
        func consider(_ moment: Instant) {
            if moment > now { earliest.bringForward(to: moment) }
        }
        // Where the breaker or the limiter holds them, a call has to end first.
        let areRetries = firsts.isEmpty && continuations.isEmpty
        if breaker.admits(inFlight: inFlight, limit: limiter.value, isRetry: areRetries) {
            let moment = rate?.nextMoment ?? now
            consider(areRetries ? max(moment, budget.nextMoment) : moment)
        }
        if crowding >= .half { consider(lastSign + silence) }
        return earliest
    }
}
