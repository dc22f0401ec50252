public import Ledger

/// The core's bounds. All else is fixed in the parts. Workers use the defaults of calls and batches. Runs of the
/// simulation make them small, so that they are met.
public struct CoreSettings: Hashable, Sendable {
    /// Most submissions read or taken from the ledger and not complete, and rows of the outbox worked on.
    public var inFlight = 8192
    /// Most bytes of records, claims and evidence in flight.
    public var inFlightBytes: Int64 = 128 << 20
    /// Most purchases in flight; a submission with more passes alone.
    public var inFlightPurchases = 65_536
    /// Most calls at once to one endpoint, see ``allow(calls:)``.
    public var callsPerEndpoint = 1000
    /// Most rows of one batch; a decision with more of them goes alone.
    public var rowsPerBatch = 1024
    /// Most bytes of records that one batch puts into `retries`; a larger one goes alone.
    public var bytesPerBatch: Int64 = 4 << 20
    /// Most events that one call puts into the outbox; the others follow.
    public var owedPerCall = 500
    /// At so many rows in the outbox, outcomes wait for the broker instead.
    public var outboxRows = 100_000
    /// Most rows of one target that one call takes from the outbox.
    public var outboxRowsPerTarget = 256
    /// Most endpoints of which one call takes due rows; the others follow.
    public var endpointsPerCall = 64
    /// Most held rows that one call takes.
    public var heldPerCall = 16
    /// Most bytes that may wait in `retries`, over all workers.
    public var retryBytes: Int64 = 4 << 30
    /// How long a reply of Apple's that may not be its last word is asked about again.
    public var doubtLimit = RetryPolicy.doubtTime
    /// Whether events say which submissions begin to wait.
    public var tellsWaiting = true
    /// How long a stop may take.
    public var stopLimit: Duration = .seconds(25)
    /// The worker as others see it in the ledger.
    public var worker = WorkerSign(id: 0, name: "grantor", version: "")

    public init() {}

    /// Allows so many calls at once to one endpoint, and at least as many submissions in flight as these need.
    public mutating func allow(calls: Int) {
        callsPerEndpoint = calls
        inFlight = max(inFlight, calls * InFlightLimit.submissionsPerCall)
    }
}
