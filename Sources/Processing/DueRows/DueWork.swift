import Contract
import Ledger
import Scheduling

/// The machine of due rows: when the ledger is asked for rows of `retries`, and for which endpoints.
///
/// Samples and this worker's own writes show which endpoints have rows, so an idle worker asks for nothing. Each sample
/// is followed by a look for rows of other workers, and for rows whose due time is not remembered here.
struct DueWork {
    /// The rows that one call takes at most.
    struct Room {
        let rows: Int
        let bytes: Int64
        /// Whether a quarter of the allowance is free.
        let isWorthACall: Bool
    }

    /// The pause before the next request if no row fits.
    private static let roomPause: Duration = .milliseconds(250)

    /// Most held rows, and most endpoints, of one call.
    private let heldPerCall: Int
    private let endpointsPerCall: Int
    private(set) var nextAt: Instant?
    /// Gates whose endpoints have more rows than the latest request took.
    private var unfinished: [Int] = []
    /// Gates whose endpoints have rows, in the order in which they became known.
    private var waitingGates: [Int] = []
    private var round = FIFO<Int>()
    private var hasHeld = false
    /// Gates, and nil for held rows, that got nothing in the latest call, because the rows of others filled its bytes.
    private var unserved: [Int?] = []
    /// Of this worker's writes: gates, and nil for held rows.
    private var written = Unsampled<Int?>()
    /// When the apps file changed last.
    private var rulesChangedAt: Timestamp?
    /// Whether held rows are taken before they are due, because not all were tried since.
    private var takesHeldEarly = false

    init(heldPerCall: Int, endpointsPerCall: Int) {
        self.heldPerCall = heldPerCall
        self.endpointsPerCall = endpointsPerCall
    }

    var hasRows: Bool { hasHeld || !waitingGates.isEmpty }

    mutating func schedule(at moment: Instant) { nextAt.bringForward(to: moment) }

    /// - Parameter now: By the ledger's clock, as samples have it.
    mutating func addRows(at gate: Int, _ now: Timestamp) {
        if !waitingGates.contains(gate) { waitingGates.append(gate) }
        written.add(gate, at: now)
    }

    /// - Parameter triedAt: When the held row was tried last.
    /// - Returns: Whether that was before the apps file changed. Its write came after, so the look for held rows may
    ///   have missed it, and is repeated.
    mutating func addHeld(triedAt: Timestamp?, at now: Timestamp) -> Bool {
        hasHeld = true
        written.add(nil, at: now)
        guard let rulesChangedAt, let triedAt, triedAt <= rulesChangedAt else { return false }
        takesHeldEarly = true
        return true
    }

    /// The apps file has changed: all held rows are tried again.
    mutating func rulesChanged(at now: Timestamp) {
        rulesChangedAt = now
        takesHeldEarly = true
    }

    /// A sample is asked for.
    mutating func sampling() { written.sampling() }

    /// A sample says which endpoints have rows.
    mutating func sampled(_ sampled: [Int], hasHeld: Bool, takenAt: Timestamp) {
        written.sampled(takenAt: takenAt)
        waitingGates = sampled + written.keys.compactMap(\.self).filter { !sampled.contains($0) }
        self.hasHeld = hasHeld || written.contains(nil)
    }

    // MARK: Calls

    /// Asks for due rows: for each endpoint as many as its gate may start, and only probes if it is away.
    mutating func take(_ room: Room, _ gates: inout GateTable, _ turn: inout Turn) {
        let now = turn.now
        if room.isWorthACall, hasRoomForMore(&gates, at: now) { schedule(at: now) }
        guard let moment = nextAt, moment <= now else { return }
        nextAt = nil
        unfinished.removeAll(keepingCapacity: true)
        guard room.rows > 0, room.bytes > 0 else { return schedule(at: now + Self.roomPause) }
        let requests = requests(rows: room.rows, &gates, at: now)
        guard !requests.isEmpty else { return }
        let bytes = Int(clamping: room.bytes)
        turn.call(.takeDue(requests, bytes: bytes), for: .takeDue(requests, bytes: bytes))
    }

    /// Whether more rows are worth a call before the pause is over.
    private func hasRoomForMore(_ gates: inout GateTable, at now: Instant) -> Bool {
        unfinished.contains { gate in gates.update(gate) { $0.dueRoom(at: now) * 4 >= $0.mostCalls } }
    }

    /// The requests of one call. A round of all endpoints takes several calls if few rows fit. Otherwise the first
    /// gates would always be served first. Requests that got nothing in the latest call come before all others,
    /// because held rows may be large and come again every few minutes.
    private mutating func requests(rows: Int, _ gates: inout GateTable, at now: Instant) -> [DueRequest] {
        var room = rows
        var requests: [DueRequest] = []
        var isCrowded = false
        let most = hasHeld || takesHeldEarly ? min(heldPerCall, max(1, room / 4)) : 0
        func requestHeld() {
            guard most > 0 else { return }
            requests.append(DueRequest(endpoint: nil, limit: most, beforeDue: takesHeldEarly))
        }
        func request(of gate: Int) {
            guard room > 0, case .apple(let endpoint) = gates[gate].key else { return }
            let ofGate = gates.update(gate) { $0.dueRoom(at: now) }
            guard ofGate > 0 else {
                isCrowded = isCrowded || !gates[gate].breaker.isAway
                return
            }
            // One row says nothing of the others that may be taken early.
            let early =
                gates[gate].takesEarly && !gates[gate].isSilent(at: now) || gates[gate].breaker.phase == .halfOpen
            requests.append(DueRequest(endpoint: endpoint, limit: min(ofGate, room), beforeDue: early))
            room -= min(ofGate, room)
        }
        if round.isEmpty { for gate in waitingGates where !unserved.contains(gate) { round.append(gate) } }
        room -= most
        for next in unserved { if let gate = next { request(of: gate) } else { requestHeld() } }
        if !unserved.contains(nil) { requestHeld() }
        unserved = []
        while room > 0, requests.count < endpointsPerCall, let gate = round.popFirst() { request(of: gate) }
        if isCrowded || !round.isEmpty { schedule(at: now + Self.roomPause) }
        return requests
    }

    /// The rows of a call are here. If all requested ones came, in number or bytes, there may be more.
    mutating func taken(
        _ requests: [DueRequest], bytes: Int, _ rows: [DueRetry], _ gates: inout GateTable, at now: Instant
    ) {
        // A suspect row comes alone, and says nothing about the others.
        if rows.first?.isSuspect == true { return schedule(at: now) }
        let isCut = rows.reduce(0) { $0 + $1.submission.retainedBytes } >= bytes
        if isCut {
            let last = requests.lastIndex { request in rows.contains { $0.cause.endpoint == request.endpoint } }
            unserved = requests[((last ?? -1) + 1)...].map { $0.endpoint.map { gates.index(of: .apple($0)) } }
        }
        var hasMore = false
        for request in requests {
            let found = rows.filter { $0.cause.endpoint == request.endpoint }
            let isAll = found.count < request.limit && !isCut
            let gate = request.endpoint.map { gates.index(of: .apple($0)) }
            if !isAll {
                hasMore = true
                if let gate { unfinished.append(gate) }
            }
            guard request.beforeDue else { continue }
            let since = gate.map { gates[$0].takesEarlySince } ?? rulesChangedAt
            guard isAll || Self.areTried(found, since: since) else { continue }
            if let gate {
                gates.update(gate) { $0.takesEarlySince = nil }
            } else {
                takesHeldEarly = false
            }
        }
        if hasMore { schedule(at: now + Self.roomPause) }
    }

    /// Whether all these rows were tried since rows are taken early. Otherwise the same rows would be asked about again
    /// and again, without their pauses.
    private static func areTried(_ rows: [DueRetry], since: Timestamp?) -> Bool {
        guard let since else { return true }
        return rows.allSatisfy { row in row.history.attempts.last.map { $0.at >= since } ?? false }
    }
}
