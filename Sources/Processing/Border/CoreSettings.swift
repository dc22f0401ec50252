/// The core's bounds. All else is fixed in the parts.
public struct CoreSettings: Hashable, Sendable {
    /// Most submissions read or taken from the ledger and not complete, and rows of the outbox worked on.
    public var inFlight = 8192
    /// Most bytes of records, claims and evidence in flight.
    public var inFlightBytes: Int64 = 128 << 20
    /// Most purchases in flight; a submission with more passes alone.
    public var inFlightPurchases = 65_536
    /// Most calls at once to one endpoint.
    public var callsPerEndpoint = 1000
    /// Most bytes that may wait in `retries`, over all workers.
    public var retryBytes: Int64 = 4 << 30
    /// How long a refusal of Apple's that may not be its last word is asked about again.
    public var doubtLimit: Duration = .seconds(6 * 3600)
    /// How long a stop may take.
    public var stopLimit: Duration = .seconds(25)
    /// The worker's name in `partitions`, for people.
    public var workerName = "grantor"

    public init() {}
}
