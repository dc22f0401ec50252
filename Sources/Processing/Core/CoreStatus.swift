public import Contract
import Scheduling

/// The state of a core at a moment, for metrics.
public struct CoreStatus: Sendable {
    /// Why nothing is read at the moment. The raw values label metrics.
    public enum ReadingStop: String, Hashable, Sendable, CaseIterable {
        case stopping
        case noPartitions = "no_partitions"
        case ledgerUnavailable = "ledger_unavailable"
        /// `retries` take no more for now. They are full, this worker has used its share, or submissions that wait for
        /// room there use up the in-flight limit.
        case retriesFull = "retries_full"
        /// The in-flight limit is used up, in number, bytes or purchases.
        case inFlightFull = "in_flight_full"
    }

    /// The gates of one of Apple's services in one environment: one for each app's key, or one for all apps.
    public struct Gates: Sendable {
        public let service: Endpoint.Service
        public let environment: Environment
        /// Gates by their circuit breaker's phase; the phases are always the same ones.
        public internal(set) var phases: [String: Int] = CircuitBreaker.Phase.none
        /// Calls under way, and submissions that wait for theirs.
        public internal(set) var inFlight = 0
        public internal(set) var waiting = 0
        /// Most calls at once; the least of any gate's.
        public internal(set) var limit = Int.max
    }

    /// The gates of fulfilment services, all together.
    public struct Services: Sendable {
        /// Services by their circuit breaker's phase; the phases are always the same ones.
        public internal(set) var phases: [String: Int] = CircuitBreaker.Phase.none
        /// Calls under way, of all services.
        public internal(set) var inFlight = 0

        /// No service.
        public init() {}
    }

    /// Submissions by state; the states are always the same ones, in the spelling of metrics.
    public let submissions: [String: Int]
    /// Quarantined records since the start, by reason.
    public let quarantined: [QuarantineReason.Kind: Int]
    /// Purchases that were passed over since the start, by reason.
    public let passedOver: [PassedOver.Reason: Int]
    public let bytes: Int64
    public let partitionsAssigned: Int
    public let partitionsOwned: Int
    public let gates: [Gates]
    public let services: Services
    /// Nil while records are read.
    public let readingStop: ReadingStop?
}

extension FlightState {
    /// Its name as metrics spell it: `looking_up`.
    fileprivate var label: String { Self.labels[rawValue] }

    private static let labels = allCases.map { state in
        "\(state)".reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }
}

extension CircuitBreaker.Phase {
    static var none: [String: Int] { [String: Int](uniqueKeysWithValues: allCases.map { ($0.rawValue, 0) }) }
}

extension WorkerCore {
    /// The present state. It visits everything in flight, so it is read once a second at most.
    public var status: CoreStatus {
        var states = [Int](repeating: 0, count: FlightState.allCases.count)
        for token in submissions.flights.tokens { states[submissions.flights[token].state.rawValue] += 1 }
        var byState: [String: Int] = [:]
        for state in FlightState.allCases where state != .vacant { byState[state.label] = states[state.rawValue] }
        let table = partitions.table
        return CoreStatus(
            submissions: byState, quarantined: submissions.news.totals,
            passedOver: submissions.news.passedOverTotals, bytes: submissions.limit.bytesInFlight,
            partitionsAssigned: table.indices.count { table[$0].state != .vacant },
            partitionsOwned: table.indices.count { table[$0].state == .owned },
            gates: submissions.gates.status(at: turn.now),
            services: submissions.gates.services(at: turn.now),
            readingStop: readingStop)
    }

    private var readingStop: CoreStatus.ReadingStop? {
        if !stop.isRunning { return .stopping }
        // First: partitions that cannot be taken over for want of a ledger are not owned either.
        if isLedgerAway { return .ledgerUnavailable }
        let table = partitions.table
        if !table.indices.contains(where: { table[$0].state == .owned }) { return .noPartitions }
        if submissions.retryBytes.keepsRecordsAway { return .retriesFull }
        guard partitions.isSpanFull || submissions.limit.isUsedUp(undecided: submissions.undecided) else { return nil }
        // Submissions that wait for room in `retries` may use up the limit, and time alone does not help.
        return submissions.isBusy([.awaitingRoom]) ? .retriesFull : .inFlightFull
    }
}

extension GateTable {
    fileprivate func services(at now: Instant) -> CoreStatus.Services {
        var services = CoreStatus.Services()
        forEachService { gate in
            services.phases[gate.breaker.shownPhase(at: now).rawValue, default: 0] += 1
            services.inFlight += gate.inFlight
        }
        return services
    }

    fileprivate func status(at now: Instant) -> [CoreStatus.Gates] {
        var all: [CoreStatus.Gates] = []
        for service in Endpoint.Service.allCases {
            for environment in Environment.allCases {
                var gates = CoreStatus.Gates(service: service, environment: environment)
                forEachGate(of: service, environment) { gate in
                    gates.phases[gate.breaker.shownPhase(at: now).rawValue, default: 0] += 1
                    gates.inFlight += gate.inFlight
                    gates.waiting += gate.waiting
                    gates.limit = min(gates.limit, gate.mostCalls)
                }
                if gates.limit == .max { gates.limit = mostCalls }
                all.append(gates)
            }
        }
        return all
    }
}
