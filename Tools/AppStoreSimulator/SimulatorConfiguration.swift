public import Contract

/// How a simulator is set up.
public struct SimulatorConfiguration: Sendable {
    /// The name or address that is listened on, and under which clients reach it. The authority's certificate has to be
    /// for it.
    public var host = "127.0.0.1"
    /// The production endpoint's port; zero for any that is free, kept from the first start on.
    public var productionPort = 0
    /// The sandbox endpoint's port, likewise.
    public var sandboxPort = 0
    /// The remote control's port, likewise.
    public var controlPort = 0
    /// The file for the TLS authority's certificate; it stays when the simulator stops. Nil for a file in the temporary
    /// folder that exists while the simulator runs.
    public var caFile: String?
    /// Where both roots that evidence is verified against are written, likewise.
    public var rootsFile: String?
    /// Shared secrets that are accepted; empty for any, or none at all.
    public var acceptedSecrets: Set<String> = []
    /// Keys whose tokens the App Store Server API accepts from the start; as long as there is none, it answers every
    /// call with 401.
    public var serverAPIKeys: [ServerAPIKey] = []
    /// Apps that the App Store Server API finds; empty for any.
    public var apps: Set<BundleID> = []
    /// Limits that the App Store Server API enforces by itself, all at once; empty for none.
    public var rateLimits: [RateLimit] = []
    /// Seed of latencies and of the shares of faults.
    public var seed: UInt64 = 1
    /// Bytes that a request's body may have; more is answered with HTTP 413.
    public var bodyLimit = 8 << 20
    /// Connections to each of the three ports.
    public var connectionLimit = 10_000

    /// The defaults: free ports, any secret.
    public init() {}
}

/// Why a simulator refuses an order. Each says what to do about it.
public enum SimulatorError: Error, Hashable, CustomStringConvertible {
    /// Make a new authority.
    case authorityUnusable(String)
    /// Use the running one, or stop it first.
    case alreadyRunning
    /// A port is taken: choose another.
    case cannotListen(String)
    /// Let scripts be played, or clear them.
    case tooManyScripts
    /// Forget transactions, or give a customer fewer.
    case tooManyTransactions
    /// Make a new simulator; this one accepts no more keys.
    case tooManyKeys
    /// Give a P-256 public key in PEM.
    case keyUnusable
    /// A file cannot be written, or is there already: choose another.
    case unwritable(file: String)

    public var description: String {
        switch self {
        case .authorityUnusable(let cause): "its authority cannot be used: \(cause)"
        case .alreadyRunning: "it runs already"
        case .cannotListen(let cause): "it cannot listen: \(cause)"
        case .tooManyScripts: "it holds as many scripts as it can"
        case .tooManyTransactions: "it holds as many transactions as it can"
        case .tooManyKeys: "it accepts as many keys as it can"
        case .keyUnusable: "the key is no P-256 public key in PEM"
        case .unwritable(let file): "\(file) cannot be written, or is there already"
        }
    }
}
