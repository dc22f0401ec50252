public import Contract

/// How much waits in a ledger, sampled every ten seconds. PostgreSQL counts a large table by some of its pages, so that
/// figures are estimates then.
public struct LedgerMeasure: Hashable, Sendable, Codable {
    /// Rows of one app in `retries`, held ones too, and the bytes of their claims and evidence.
    public struct App: Hashable, Sendable, Codable {
        public let bundleID: BundleID
        public let rows: Int
        public let bytes: Int64

        public init(bundleID: BundleID, rows: Int, bytes: Int64) {
            self.bundleID = bundleID
            self.rows = rows
            self.bytes = bytes
        }
    }

    /// Rows of `retries` that wait for the same endpoint.
    public struct Waiting: Hashable, Sendable, Codable {
        /// Nil for held rows, and for endpoints that only a later version knows.
        public let endpoint: Endpoint?
        public let rows: Int
        /// When the record of the oldest row came. A driver may take the row that was written first.
        public let oldest: Timestamp?

        public init(endpoint: Endpoint?, rows: Int, oldest: Timestamp? = nil) {
            self.endpoint = endpoint
            self.rows = rows
            self.oldest = oldest
        }
    }

    /// Held rows of one app that wait for the same.
    public struct Held: Hashable, Sendable, Codable {
        /// Most details of a group.
        public static let maxDetails = 4

        public let group: HeldGroup
        public let rows: Int
        /// Their details, those of most rows first.
        public let details: [String]
        /// As that of ``Waiting``.
        public let oldest: Timestamp?

        /// - Parameter details: Each with the number of its rows.
        public init(_ bundleID: BundleID, _ cause: HoldCause, details: [String: Int], oldest: Timestamp? = nil) {
            let ordered = details.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            self.init(
                bundleID, cause, rows: details.values.reduce(0, +), ordered.prefix(Self.maxDetails).map(\.key),
                oldest: oldest)
        }

        public init(
            _ bundleID: BundleID, _ cause: HoldCause, rows: Int, _ details: [String], oldest: Timestamp? = nil
        ) {
            group = HeldGroup(bundleID: bundleID, cause: cause)
            self.rows = rows
            self.details = details
            self.oldest = oldest
        }
    }

    /// Calls of one app that its fulfilment service has not said yes to: of grants, and of repeats that want a copy.
    public struct Calls: Hashable, Sendable, Codable {
        public let bundleID: BundleID
        public let rows: Int
        /// The refused ones, by the service's latest answers.
        public let refused: Int
        /// When the oldest of the others was granted; nil where all are refused. A refused call needs a person, and
        /// must not hide that the service is away.
        public let oldest: Timestamp?

        public init(bundleID: BundleID, rows: Int, refused: Int, oldest: Timestamp?) {
            self.bundleID = bundleID
            self.rows = rows
            self.refused = refused
            self.oldest = oldest
        }

        /// Calls of one target as a driver counts them; nil where that is no service.
        /// - Parameter oldest: milliseconds since 1970.
        public init?(of target: OutboxTarget, rows: Int, refused: Int, oldest: Int64?) {
            guard case .service(let bundleID) = target else { return nil }
            self.init(
                bundleID: bundleID, rows: rows, refused: refused,
                oldest: oldest.map { Timestamp(milliseconds: $0) })
        }
    }

    /// Rows of `retries` by app, ordered by bundle id.
    public let retries: [App]
    /// Rows of `retries` by endpoint, in order. Rows may wait for an endpoint that no app of the configuration has any
    /// more.
    public let waiting: [Waiting]
    /// Held rows, ordered by bundle id and cause.
    public let held: [Held]
    /// Workers that have given a sign within ``WorkerSign/mostSilence``, the asking one included.
    public var workers: Int
    /// When it was taken, by the ledger's clock. Workers may share a sample.
    public var takenAt: Timestamp
    /// Owed fulfilment calls by app, ordered by bundle id.
    public let calls: [Calls]
    /// All rows of the outbox, calls included.
    public let outboxRows: Int
    /// How many milliseconds ago the oldest event of the outbox was first due; 0 if none is.
    public let outboxAge: Int64
    /// Rows of `retries` and the outbox that only a later version can work on: their time does not come here.
    public let later: Int

    public init(
        retries: [App], waiting: [Waiting], held: [Held] = [], calls: [Calls] = [], outboxRows: Int, outboxAge: Int64,
        later: Int = 0, workers: Int = 1, takenAt: Timestamp = Timestamp(milliseconds: 0)
    ) {
        self.calls = calls
        self.workers = workers
        self.takenAt = takenAt
        self.later = later
        self.held = held
        self.retries = retries
        self.waiting = waiting
        self.outboxRows = outboxRows
        self.outboxAge = outboxAge
    }
}

/// An app and the cause that its submissions are held for.
public struct HeldGroup: Hashable, Sendable, Codable {
    public let bundleID: BundleID
    public let cause: HoldCause

    public init(bundleID: BundleID, cause: HoldCause) {
        self.bundleID = bundleID
        self.cause = cause
    }
}
