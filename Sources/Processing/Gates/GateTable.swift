import Contract
import Scheduling

/// The gates of all endpoints. Together they hold at most half of the in-flight limit. Once half of that is used, one
/// that is silent holds nobody but its calls, so that reading goes on.
///
/// There may be thousands, one for each app's key; only those with work are looked at in a turn.
struct GateTable {
    /// Calls to one endpoint that does not answer hold no more than such a part of the records that wait for all of
    /// them.
    private static let callShare = 3

    let mostCalls: Int
    private var gates: [EndpointGate] = []
    private var places: [GateKey: Int] = [:]
    /// Places of gates that have work, in the order in which they got it.
    private(set) var active: [Int] = []
    private(set) var held = 0

    /// - Parameter most: most records in all gates together.
    init(most: Int, mostCalls: Int) {
        self.mostCalls = max(1, min(mostCalls, most / Self.callShare))
    }

    var count: Int { gates.count }

    /// The gate's place, which never changes. An endpoint that the configuration does not name has a gate, too, because
    /// rows may wait for an app that is no longer configured.
    mutating func place(of key: GateKey) -> Int {
        if let place = places[key] { return place }
        gates.append(EndpointGate(key: key, rate: nil, mostCalls: mostCalls))
        places[key] = gates.count - 1
        return gates.count - 1
    }

    /// Makes the gates of a new apps file and applies its rates.
    /// - Parameter workers: those that a rate is divided by.
    mutating func apply(_ rules: Rules, workers: Int) {
        for endpoint in rules.endpoints {
            let place = place(of: .apple(endpoint.endpoint))
            gates[place].setRate(endpoint.rate.map { $0 / Double(max(1, workers)) })
        }
        for service in rules.services { _ = place(of: .service(service)) }
    }

    func forEachGate(of service: Endpoint.Service, _ environment: Environment, _ body: (EndpointGate) -> Void) {
        for gate in gates {
            guard case .apple(let endpoint) = gate.key, endpoint.service == service, endpoint.environment == environment
            else { continue }
            body(gate)
        }
    }

    subscript(place: Int) -> EndpointGate { @inline(__always) _read { yield gates[place] } }

    /// Changes a gate and keeps the totals right.
    mutating func update<Result>(_ place: Int, _ body: (inout EndpointGate) -> Result) -> Result {
        let before = gates[place].held
        let result = body(&gates[place])
        held += gates[place].held - before
        if !gates[place].isActive, gates[place].hasWork {
            gates[place].isActive = true
            active.append(place)
        }
        return result
    }

    /// Lets the next submission of a gate go, if one may.
    mutating func next(
        at place: Int, _ now: Instant, in flights: some WaitingSubmissions
    ) -> (token: SubmissionToken, pass: EndpointGate.Pass)? {
        let before = gates[place].held
        defer { held += gates[place].held - before }
        return gates[place].next(at: now, in: flights)
    }

    /// Removes submissions that should not wait for a gate. While it is not known to be away, its calls are its probes.
    ///
    /// Follow-up calls go with a long outage, or where they would fill the allowance of all gates. Otherwise they would
    /// stay until its end, and stop all reading.
    mutating func shed(
        at place: Int, areCrowded: Bool, at now: Instant, in flights: some WaitingSubmissions
    ) -> [SubmissionToken] {
        let before = gates[place].held
        defer { held += gates[place].held - before }
        let calls = gates[place].breaker.isAway ? 0 : gates[place].inFlight
        return gates[place].shed(
            keeping: gates[place].probes - calls, shedsContinuations: areCrowded || gates[place].isAwayForLong(at: now),
            in: flights)
    }

    /// A change of an endpoint's trouble.
    enum TroubleChange {
        case began(Endpoint, fault: String?)
        case ended(Endpoint, after: Duration)
        /// Rows that wait are its probes, whatever their due time.
        case needsProbes
    }

    /// Notices that the trouble of a gate's endpoint has begun or ended; each is said once.
    mutating func noticeTrouble(at place: Int, _ now: Instant, wall: Timestamp) -> TroubleChange? {
        let isHalfOpen = gates[place].breaker.phase == .halfOpen
        if !isHalfOpen { gates[place].isProbing = false }
        let isTroubled = gates[place].isTroubled
        let since = gates[place].troubledSinceTold
        guard isTroubled != (since != nil) || isHalfOpen, case .apple(let endpoint) = gates[place].key else {
            return nil
        }
        if isHalfOpen {
            defer { gates[place].isProbing = true }
            return gates[place].held == 0 && !gates[place].isProbing ? .needsProbes : nil
        }
        gates[place].troubledSinceTold = isTroubled ? now : nil
        gates[place].troubleToldAt = gates[place].troubledSinceTold
        gates[place].takesEarlySince = isTroubled ? nil : wall
        guard let since else { return .began(endpoint, fault: gates[place].fault) }
        return .ended(endpoint, after: now - since)
    }

    /// Removes gates without work from the active ones, at the end of a turn.
    mutating func retireIdle() {
        guard active.contains(where: { !gates[$0].hasWork }) else { return }
        active.removeAll { place in
            guard !gates[place].hasWork else { return false }
            gates[place].isActive = false
            return true
        }
    }

    /// When time alone changes something for a gate; nil while it does not.
    func nextMoment(areCrowded: Bool, after now: Instant) -> Instant? {
        var earliest: Instant?
        for place in active {
            guard let moment = gates[place].nextMoment(areCrowded: areCrowded, after: now) else { continue }
            earliest = min(earliest ?? moment, moment)
        }
        return earliest
    }
}
