public import Foundation

extension AppStoreSimulator {
    /// How a simulator is set up.
    public struct Configuration: Sendable {
        /// The production endpoint's port on 127.0.0.1; zero for any that is free, kept from the first start on.
        public var productionPort = 0
        /// The sandbox endpoint's port, likewise.
        public var sandboxPort = 0
        /// The remote control's port, likewise.
        public var controlPort = 0
        /// Where the TLS authority's certificate is written; nil for a new file in the temporary folder. It stays
        /// when the simulator stops.
        public var caFile: URL?
        /// Shared secrets that are accepted; empty for any, or none at all.
        public var acceptedSecrets: Set<String> = []
        /// Seed of latencies and of the shares of faults.
        public var seed: UInt64 = 1
        /// Bytes that a request's body may have; more is answered with HTTP 413.
        public var bodyLimit = 8 << 20
        /// Connections to the two endpoints; more are closed as they come. As many again to the remote control.
        public var connectionLimit = 10_000
        /// Event loop threads; at least 1.
        public var threads = 1

        /// The defaults: free ports, any secret, one thread.
        public init() {}
    }
}

/// Why a simulator does not do what it is asked. Each says what to do about it.
public enum SimulatorError: Error, Hashable {
    /// Make a new authority.
    case authorityUnusable(String)
    /// Use the one that runs, or stop it first.
    case alreadyRunning
    /// A port is taken, or the certificate's file cannot be written: choose others.
    case cannotListen(String)
    /// The ports are free, but threads may be left behind: end the process.
    case cannotStop(String)
    /// Let scripts be played, or clear them.
    case tooManyScripts
}
