import Contract
import Scheduling

/// The gates of all endpoints. Together they hold at most half of the in-flight limit, and each that has work has a fair
/// share of that.
///
/// There may be thousands, one for each app's key; only those with work are looked at in a turn.
struct GateTable {
    /// A share is never smaller: it has room for the probes of an endpoint that is away.
    private static let leastShare = 8

    let mostCalls: Int
    /// Most submissions in all gates together.
    private let most: Int
    private var gates: [EndpointGate] = []
    private var places: [GateKey: Int] = [:]
    /// Places of gates that have work, in the order in which they got it.
    private(set) var active: [Int] = []
    /// Submissions in all gates.
    private(set) var held = 0

    init(most: Int, mostCalls: Int) {
        self.most = most
        self.mostCalls = mostCalls
    }

    /// How many submissions each gate that has work may keep.
    var share: Int { max(Self.leastShare, most / max(1, active.count)) }

    var count: Int { gates.count }

    /// The gate's place, which never changes. One that configuration does not name is made all the same: rows may wait for
    /// an endpoint of an app that is not configured any more.
    mutating func place(of key: GateKey) -> Int {
        if let place = places[key] { return place }
        gates.append(EndpointGate(key: key, rate: nil, mostCalls: mostCalls))
        places[key] = gates.count - 1
        return gates.count - 1
    }

    /// Makes the gates of a new apps file and applies its rates.
    mutating func apply(_ rules: Rules) {
        for endpoint in rules.endpoints {
            let place = place(of: .apple(endpoint.endpoint))
            gates[place].setRate(endpoint.rate)
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

    subscript(place: Int) -> EndpointGate { _read { yield gates[place] } }

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
        at place: Int, _ now: Instant, in flights: Flights
    ) -> (token: SubmissionToken, pass: EndpointGate.Pass)? {
        let before = gates[place].held
        defer { held += gates[place].held - before }
        return gates[place].next(at: now, in: flights)
    }

    /// Takes those out of a gate that are not to wait for it.
    mutating func shed(at place: Int, in flights: Flights) -> [SubmissionToken] {
        let before = gates[place].held
        defer { held += gates[place].held - before }
        return gates[place].shed(keeping: gates[place].probes, in: flights)
    }

    /// Takes the gates from the active ones that have no work any more. At the end of a turn.
    mutating func retireIdle() {
        guard active.contains(where: { !gates[$0].hasWork }) else { return }
        active.removeAll { place in
            guard !gates[place].hasWork else { return false }
            gates[place].isActive = false
            return true
        }
    }

    /// When time alone changes something for a gate; nil while it does not.
    func nextMoment(after now: Instant) -> Instant? {
        var earliest: Instant?
        let share = share
        for place in active {
            guard let moment = gates[place].nextMoment(share: share, after: now) else { continue }
            earliest = min(earliest ?? moment, moment)
        }
        return earliest
    }
}
