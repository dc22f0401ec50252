import Ledger
import Purchases

/// Decides which deliveries this worker calls for and when, and what it tells the ledger of them. Pure: callers tell it what
/// happened, make the calls that it names, and write the reports that it leaves.
struct DeliveryDesk: Sendable {
    /// A call to make. Has to be given back with its answer.
    struct Call: Hashable, Sendable {
        let delivery: Delivery
        fileprivate let pass: Breaker.Pass
    }

    /// A service stopped being called freely, or is again.
    struct Change: Hashable, Sendable {
        let bundleID: BundleID
        let isTroubled: Bool
    }

    private struct Held: Sendable {
        let delivery: Delivery
        let line: Int
        var state: DeliveryState
    }

    /// Most reports in one ledger transaction.
    static let maxReports = 500
    /// Most deliveries taken from the ledger at once, of one app.
    static let maxTaken = 100

    private let policy: DeliveryPolicy
    private(set) var lines: [DeliveryLine]
    private let places: [BundleID: Int]
    private var all: [EventID: Held] = [:]
    private var promised = 0
    private var reports = Queue<DeliveryReport>()
    /// Lines whose trouble was told of.
    private var troubled: Set<Int> = []
    /// Where the last call went; the next begins behind it.
    private var cursor = 0
    /// Who was given the first share of what is taken from the ledger.
    private var firstToTake = 0
    /// No call begins any more.
    private(set) var isClosed = false

    /// - Parameter services: each app's, with the most calls at once.
    init(_ services: [(bundleID: BundleID, maxInFlight: Int)], policy: DeliveryPolicy) {
        self.policy = policy
        // One that is slow is not to hold all that may be held, and the others out.
        let most = services.count > 1 ? policy.maxHeld / 2 : policy.maxHeld
        lines = services.map {
            DeliveryLine($0.bundleID, maxInFlight: $0.maxInFlight, maxHeld: most, policy: policy)
        }
        places = Dictionary(services.enumerated().map { ($1.bundleID, $0) }) { first, _ in first }
    }

    /// Deliveries held, reports that are not written yet among them.
    var heldCount: Int { all.count }

    /// Whether nothing is left to be done.
    var isFinished: Bool { isClosed && all.isEmpty && promised == 0 }

    /// The deliveries held, in ledger order of their ids.
    var held: [EventID] { all.keys.sorted { $0.rawValue < $1.rawValue } }

    func isServed(_ bundleID: BundleID) -> Bool { places[bundleID] != nil }

    /// Settlement is about to open so many deliveries of an app.
    ///
    /// - Returns: whether this worker will hold them; then ``settled(_:promised:of:)`` is due.
    mutating func promise(_ count: Int, of bundleID: BundleID, elapsed: Duration) -> Bool {
        guard !isClosed, let place = places[bundleID] else { return false }
        lines[place].advance(to: elapsed)
        let line = lines[place]
        guard line.breaker.phase == .closed,
            Double(line.held + line.promised + count) <= Double(line.maxHeld) * policy.settledShare,
            Double(all.count + promised + count) <= Double(policy.maxHeld) * policy.settledShare
        else { return false }
        lines[place].promise(count)
        promised += count
        return true
    }

    /// A promise is over.
    mutating func settled(promised count: Int, of bundleID: BundleID) {
        guard let place = places[bundleID] else { return }
        lines[place].fulfil(count)
        promised -= count
    }

    /// Deliveries are this worker's. Those that it has already, whose lease ended meanwhile, are passed over.
    mutating func add(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            let id = delivery.event.id
            guard let place = places[delivery.bundleID], all[id] == nil else { continue }
            all[id] = Held(delivery: delivery, line: place, state: DeliveryState(delivery))
            lines[place].append(id)
            if isClosed || lines[place].breaker.phase == .open { giveBackAll(of: place) }
        }
    }

    /// What is to be taken from the ledger: of the room that there is in all an even part for each service, because nobody
    /// knows whose deliveries are due, beginning with another service each time.
    mutating func shares(elapsed: Duration) -> [DeliveryShare] {
        guard !isClosed, !lines.isEmpty else { return [] }
        var room = policy.maxHeld - all.count - promised
        var shares: [DeliveryShare] = []
        firstToTake = (firstToTake + 1) % lines.count
        for step in lines.indices {
            let place = (firstToTake + step) % lines.count
            lines[place].advance(to: elapsed)
            let left = lines.count - step
            let limit = min(lines[place].room(probes: policy.breaker.probes), Self.maxTaken, (room + left - 1) / left)
            guard limit > 0 else { continue }
            room -= limit
            shares.append(DeliveryShare(bundleID: lines[place].bundleID, limit: limit))
        }
        return shares
    }

    /// The next call to make now, of each service in turn.
    mutating func next(elapsed: Duration) -> Call? {
        guard !isClosed else { return nil }
        // Asked about while a line is changed, which is a part of the same value.
        let all = all
        for _ in lines.indices {
            cursor = (cursor + 1) % lines.count
            let next = lines[cursor].next(elapsed: elapsed) { (all[$0]?.state.attempts ?? 0) > 0 }
            guard let (id, pass) = next, let held = all[id] else { continue }
            return Call(delivery: held.delivery, pass: pass)
        }
        return nil
    }

    /// The earliest moment at which the passing of time alone lets a call be made; nil while it does not.
    var nextMoment: Duration? {
        isClosed ? nil : lines.compactMap(\.nextMoment).min()
    }

    /// A call was answered, or given up.
    ///
    /// - Parameter unit: makes a random number in `0..<1`.
    mutating func ended(
        _ call: Call, _ answer: DeliveryAnswer, took: Duration, elapsed: Duration, now: Timestamp,
        unit: () -> Double
    ) {
        let id = call.delivery.event.id
        guard var held = all[id] else { return }
        let place = held.line
        let wasTroubled = lines[place].breaker.phase != .closed
        let isRetry = held.state.attempts > 0
        lines[place].ended(
            call.pass, outcome(of: answer, isRetry: isRetry, isTroubled: wasTroubled), isRetry: isRetry, took: took,
            elapsed: elapsed, unit: unit)
        let isTroubled = lines[place].breaker.phase != .closed
        let step = held.state.received(
            answer, policy: policy, now: now, unit: unit(), isTroubled: wasTroubled || isTroubled)
        all[id] = held
        switch step {
        case .finish: report(held, .done)
        case .tryAgain(let delay) where !isClosed: lines[place].wait(id, until: elapsed + delay)
        case .tryAgain(let delay), .giveBack(let delay): report(held, .again(after: delay))
        }
        // What is not under way is better off in the ledger, where any worker finds it once the service is back.
        if lines[place].breaker.phase == .open { giveBackAll(of: place) }
    }

    /// What an answer says about the service.
    private func outcome(of answer: DeliveryAnswer, isRetry: Bool, isTroubled: Bool) -> CallOutcome {
        switch answer.outcome {
        // Those that are refused again and again are the first to be called when it is back, and would stop all others' calls.
        case .failed where isTroubled && isRetry && answer.isOwnNo: .unknown
        case .limited(let wait?): .limited(wait: min(wait, policy.longestStop))
        case let outcome: outcome
        }
    }

    /// What the ledger is to be told now; ``written(_:)`` is due once it was.
    mutating func takeReports() -> [DeliveryReport] {
        var taken: [DeliveryReport] = []
        while taken.count < Self.maxReports, let report = reports.popFirst() { taken.append(report) }
        return taken
    }

    /// Reports are in the ledger.
    mutating func written(_ reports: [DeliveryReport]) {
        for report in reports {
            guard let held = all.removeValue(forKey: report.eventID) else { continue }
            lines[held.line].released()
        }
    }

    /// What began or ended since this was last asked.
    mutating func takeChanges(elapsed: Duration) -> [Change] {
        lines.indices.compactMap { place in
            lines[place].advance(to: elapsed)
            let isTroubled = lines[place].breaker.phase != .closed
            guard isTroubled != troubled.contains(place) else { return nil }
            if isTroubled { troubled.insert(place) } else { troubled.remove(place) }
            return Change(bundleID: lines[place].bundleID, isTroubled: isTroubled)
        }
    }

    /// No call begins from now on, and all that no call is under way for is given back.
    mutating func close() {
        isClosed = true
        for place in lines.indices { giveBackAll(of: place) }
    }

    private mutating func giveBackAll(of place: Int) {
        for id in lines[place].removeAll() {
            guard let held = all[id] else { continue }
            report(held, .again(after: .zero))
        }
    }

    private mutating func report(_ held: Held, _ end: DeliveryReport.End) {
        reports.append(
            DeliveryReport(
                eventID: held.delivery.event.id, attempts: held.state.attempts, history: held.state.history, end: end))
    }
}
