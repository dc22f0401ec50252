internal import Contract

/// Counts of the calls to an ``AppStoreSimulator`` and of its answers, since it was made.
public struct Statistics: Hashable, Sendable, Codable {
    public struct Endpoint: Hashable, Sendable, Codable {
        /// Requests read to their end, whatever became of them.
        public var calls = 0
        /// Real answers that reached the client whole or in part, by their `status`; scripted ones are not among them.
        public var statuses: [Int: Int] = [:]
        /// Unscripted answers of the App Store Server API that reached the client whole or in part. The key is the
        /// `errorCode`, 0 for a success.
        public var errorCodes: [Int: Int] = [:]
        /// Calls that a fault struck, by its ``Fault/name``; an outage counts under its own name.
        public var faults: [String: Int] = [:]
        /// Calls refused before a receipt or transaction was looked at, by HTTP code.
        public var refusals: [Int: Int] = [:]
    }

    /// Calls to the production endpoint.
    public var production = Endpoint()
    /// Calls to the sandbox endpoint.
    public var sandbox = Endpoint()
    /// Requests read and not yet answered.
    public var inFlight = 0
    /// The most there were at once.
    public var inFlightPeak = 0
    /// Open connections to the two endpoints.
    public var connections = 0
    /// The most there were at once.
    public var connectionsPeak = 0
    /// Calls about each transaction, for the first ``transactionLimit`` transactions seen.
    public var callsByTransaction: [String: Int] = [:]
    /// Calls about transactions seen after those.
    public var callsNotKept = 0

    /// Transactions that are counted one by one.
    public static let transactionLimit = 100_000

    mutating func count(in environment: Environment, _ change: (inout Endpoint) -> Void) {
        switch environment {
        case .production: change(&production)
        case .sandbox: change(&sandbox)
        }
    }

    mutating func count(callAbout transactions: [TransactionID]) {
        for transaction in transactions {
            if callsByTransaction[transaction.rawValue] == nil, callsByTransaction.count >= Self.transactionLimit {
                callsNotKept += 1
            } else {
                callsByTransaction[transaction.rawValue, default: 0] += 1
            }
        }
    }

    mutating func requestStarted() {
        inFlight += 1
        inFlightPeak = max(inFlightPeak, inFlight)
    }

    mutating func requestEnded() {
        inFlight -= 1
    }

    mutating func connectionOpened() {
        connections += 1
        connectionsPeak = max(connectionsPeak, connections)
    }

    mutating func connectionClosed() {
        connections -= 1
    }
}
