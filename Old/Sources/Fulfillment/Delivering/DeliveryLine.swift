import Ledger
import Purchases

/// One app's inventory service as this worker sees it: whether it is called, how many calls at once, and what waits to be
/// told to it. Pure.
struct DeliveryLine: Sendable {
    let bundleID: BundleID
    let maxInFlight: Int
    /// Most deliveries held.
    let maxHeld: Int
    private(set) var breaker: Breaker
    private(set) var limit: ConcurrencyLimit
    private var ready = Queue<EventID>()
    /// Those that are called again at a moment, the earliest last.
    private var waiting: [(moment: Duration, id: EventID)] = []
    private(set) var inFlight = 0
    /// Deliveries held, in whatever way, and places that are promised to settlement.
    private(set) var held = 0
    private(set) var promised = 0

    /// - Parameter most: most deliveries held, however many calls there may be at once.
    init(_ bundleID: BundleID, maxInFlight: Int, maxHeld most: Int, policy: DeliveryPolicy) {
        self.bundleID = bundleID
        self.maxInFlight = maxInFlight
        maxHeld = max(1, min(maxInFlight * policy.heldPerCall, most))
        breaker = Breaker(policy: policy.breaker, ceiling: maxInFlight)
        limit = ConcurrencyLimit(policy: policy.concurrency, most: maxInFlight)
    }

    /// How many more it may hold of what waits in the ledger: while it is probed, as many as there may be probes.
    func room(probes: Int) -> Int {
        let free = maxHeld - held - promised
        switch breaker.phase {
        case .open: return 0
        case .halfOpen: return min(free, min(probes, maxInFlight) - held)
        case .closed, .ramping: return free
        }
    }

    /// When the passing of time alone lets a call be made; nil while it does not.
    var nextMoment: Duration? {
        let next = waiting.last?.moment
        guard !ready.isEmpty, let change = breaker.nextMoment else { return next }
        return min(next ?? change, change)
    }

    mutating func advance(to elapsed: Duration) {
        breaker.advance(to: elapsed)
        while let first = waiting.last, first.moment <= elapsed {
            waiting.removeLast()
            ready.append(first.id)
        }
    }

    mutating func promise(_ count: Int) { promised += count }
    mutating func fulfil(_ count: Int) { promised -= count }

    mutating func append(_ id: EventID) {
        held += 1
        ready.append(id)
    }

    /// A delivery is this worker's no more.
    mutating func released() { held -= 1 }

    mutating func wait(_ id: EventID, until moment: Duration) {
        let index = waiting.firstIndex { $0.moment <= moment } ?? waiting.endIndex
        waiting.insert((moment, id), at: index)
    }

    /// The next delivery to call for, if a call may be made.
    ///
    /// - Parameter isRetry: whether the call before it for a delivery failed.
    mutating func next(elapsed: Duration, isRetry: (EventID) -> Bool) -> (id: EventID, pass: Breaker.Pass)? {
        guard !ready.isEmpty || !waiting.isEmpty else { return nil }
        advance(to: elapsed)
        // Probes are made whatever is still under way from before; the service's own bound holds all the same.
        guard inFlight < maxInFlight, breaker.admits(inFlight: inFlight, limit: limit.value), let id = ready.popFirst()
        else { return nil }
        inFlight += 1
        return (id, breaker.began(isRetry: isRetry(id), elapsed: elapsed))
    }

    /// A call ended.
    mutating func ended(
        _ pass: Breaker.Pass, _ outcome: CallOutcome, isRetry: Bool, took: Duration, elapsed: Duration,
        unit: () -> Double
    ) {
        breaker.advance(to: elapsed)
        if !breaker.isAway { limit.ended(outcome, took: took, inFlight: inFlight, elapsed: elapsed) }
        breaker.ended(pass, outcome, isRetry: isRetry, took: took, elapsed: elapsed, unit: unit)
        inFlight -= 1
    }

    /// Empties the line of all that no call is under way for.
    mutating func removeAll() -> [EventID] {
        defer {
            ready = Queue()
            waiting = []
        }
        return Array(ready) + waiting.reversed().map(\.id)
    }
}
