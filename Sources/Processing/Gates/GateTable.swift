import Contract
import Scheduling

/// The gates of all endpoints. Together those of Apple's hold at most half of the in-flight limit. Once half of that is
/// used, a silent or slow gate keeps hardly more than its calls under way, so that reading goes on.
///
/// There may be thousands, one for each app's key; only those with work are looked at in a turn.
struct GateTable {
    /// Calls to one silent endpoint hold at most this part of all gates' records.
    private static let callShare = 3

    let mostCalls: Int
    private var gates: [EndpointGate] = []
    private var indices: [GateKey: Int] = [:]
    /// Indices of gates that have work, in the order in which they got it.
    private(set) var active: [Int] = []
    private(set) var held = 0

    /// - Parameter most: most records in all gates together.
    init(most: Int, mostCalls: Int) {
        self.mostCalls = max(1, min(mostCalls, most / Self.callShare))
    }

    var count: Int { gates.count }

    /// The gate's index, which never changes. An endpoint outside the configuration has a gate, too, because rows may
    /// wait for an app that is no longer configured.
    mutating func index(of key: GateKey) -> Int {
        if let index = indices[key] { return index }
        gates.append(EndpointGate(key: key, rate: nil, mostCalls: mostCalls))
        indices[key] = gates.count - 1
        return gates.count - 1
    }

    /// Makes the gates of a new apps file and applies its rates.
    /// - Parameter workers: the ones that a rate is divided by.
    mutating func apply(_ apps: AppsSnapshot, workers: Int) {
        for endpoint in apps.endpoints {
            let index = index(of: .apple(endpoint.endpoint))
            gates[index].setRate(endpoint.rate.map { $0 / Double(max(1, workers)) })
        }
        for service in apps.services { gates[index(of: .service(service.bundleID))].allow(calls: service.calls) }
    }

    func forEachService(_ body: (EndpointGate) -> Void) {
        for gate in gates where gate.service != nil { body(gate) }
    }

    func forEachGate(of service: Endpoint.Service, _ environment: Environment, _ body: (EndpointGate) -> Void) {
        for gate in gates {
            guard case .apple(let endpoint) = gate.key, endpoint.service == service, endpoint.environment == environment
            else { continue }
            body(gate)
        }
    }

    subscript(index: Int) -> EndpointGate { @inline(__always) _read { yield gates[index] } }

    /// Changes a gate and keeps the totals right.
    mutating func update<Result>(_ index: Int, _ body: (inout EndpointGate) -> Result) -> Result {
        let before = gates[index].heldSubmissions
        let result = body(&gates[index])
        held += gates[index].heldSubmissions - before
        if !gates[index].isActive, gates[index].hasWork {
            gates[index].isActive = true
            active.append(index)
        }
        return result
    }

    /// Lets the next submission of a gate go, if one may.
    mutating func next(
        at index: Int, _ now: Instant, in flights: some WaitingSubmissions
    ) -> (token: SubmissionToken, pass: EndpointGate.Pass)? {
        update(index) { $0.next(at: now, in: flights) }
    }

    /// Removes submissions that should not wait for a gate.
    mutating func shed(
        at index: Int, crowding: Crowding, at now: Instant, in flights: some WaitingSubmissions
    ) -> (excess: EndpointGate.Excess, gone: [SubmissionToken])? {
        update(index) { $0.shed(crowding: crowding, at: now, in: flights) }
    }

    /// A change of an endpoint's trouble.
    enum TroubleChange {
        case began(GateKey, fault: String?)
        case ended(GateKey, after: Duration)
        /// Rows that wait are its probes, whatever their due time.
        case needsProbes(GateKey)
    }

    /// Notices that the trouble of a gate's endpoint has begun or ended; each is said once.
    mutating func noticeTrouble(at index: Int, _ now: Instant, wall: Timestamp) -> TroubleChange? {
        let isHalfOpen = gates[index].breaker.phase == .halfOpen
        if !isHalfOpen { gates[index].isProbing = false }
        let isTroubled = gates[index].isTroubled
        let since = gates[index].troubledSinceTold
        guard isTroubled != (since != nil) || isHalfOpen else { return nil }
        let key = gates[index].key
        if isHalfOpen {
            defer { gates[index].isProbing = true }
            return !gates[index].hasProbe && !gates[index].isProbing ? .needsProbes(key) : nil
        }
        gates[index].troubledSinceTold = isTroubled ? now : nil
        gates[index].troubleToldAt = gates[index].troubledSinceTold
        gates[index].latestFault = nil
        // Calls that wait for a service are due within a minute anyway.
        gates[index].takesEarlySince = isTroubled || gates[index].service != nil ? nil : wall
        guard let since else { return .began(key, fault: gates[index].fault) }
        return .ended(key, after: now - since)
    }

    /// For how long a gate's endpoint has been in trouble, once in a while: this is to be said again now.
    mutating func dueReminder(at index: Int, _ now: Instant) -> Duration? {
        guard let since = gates[index].troubledSinceTold,
            gates[index].troubleToldAt.map({ now - $0 >= Reminder.pause }) ?? true
        else { return nil }
        gates[index].troubleToldAt = now
        return now - since
    }

    /// Removes gates without work from the active ones, at the end of a turn.
    mutating func retireIdle() {
        guard active.contains(where: { !gates[$0].hasWork }) else { return }
        active.removeAll { index in
            guard !gates[index].hasWork else { return false }
            gates[index].isActive = false
            return true
        }
    }

    /// When time alone changes something for a gate; nil while it does not.
    func nextMoment(crowding: Crowding, after now: Instant) -> Instant? {
        var earliest: Instant?
        for index in active {
            earliest.bringForward(to: gates[index].nextMoment(crowding: crowding, after: now))
        }
        return earliest
    }
}
