/// How an endpoint treats every call, until it is replaced.
public struct Behaviour: Hashable, Sendable, Codable {
    /// Apple is out.
    public enum Outage: String, Hashable, Sendable, Codable {
        /// Every call is answered with HTTP 503.
        case unavailable
        /// Every connection closes once a request was read.
        case closed
    }

    /// A fault that strikes some of the calls.
    public struct Share: Hashable, Sendable, Codable {
        /// Of all calls, 0 to 1.
        public var share: Double
        /// The fault of those calls.
        public var fault: Fault

        /// A fault and how often it strikes.
        public init(_ share: Double, _ fault: Fault) {
            self.share = share
            self.fault = fault
        }
    }

    /// How long each answer takes; faults wait as long.
    public var latency: Latency
    /// In order: a call draws one number, and the first fault whose range has it strikes.
    public var faults: [Share]
    /// Takes precedence over everything else.
    public var outage: Outage?

    /// No latency, no faults and no outage unless said otherwise.
    public init(latency: Latency = .none, faults: [Share] = [], outage: Outage? = nil) {
        self.latency = latency
        self.faults = faults
        self.outage = outage
    }

    /// Members may be left out.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        latency = try container.decodeIfPresent(Latency.self, forKey: .latency) ?? .none
        faults = try container.decodeIfPresent([Share].self, forKey: .faults) ?? []
        outage = try container.decodeIfPresent(Outage.self, forKey: .outage)
    }
}
