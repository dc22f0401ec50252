/// Where an embedded ledger is and how it is opened.
public struct SQLiteLedgerConfiguration: Hashable, Sendable {
    /// The database file, on a local disk. Relative paths start at the working directory of the moment of opening.
    public var path: String
    /// Whether a missing file is created and an older schema brought up to date.
    public var migrate: Bool
    /// How long a statement waits for another process's write before the call is `.unavailable`.
    public var busyTimeout: Duration
    /// Most reads at a time beside the one writer.
    public var maxReaders: Int
    /// Largest file whose structure is checked at opening, in bytes; the check reads all of it.
    public var maxCheckedBytes: Int64

    /// A ledger with the settings that suit a worker.
    public init(
        path: String, migrate: Bool, busyTimeout: Duration = .seconds(5), maxReaders: Int = 2,
        maxCheckedBytes: Int64 = 1 << 30
    ) {
        self.path = path
        self.migrate = migrate
        self.busyTimeout = busyTimeout
        self.maxReaders = maxReaders
        self.maxCheckedBytes = maxCheckedBytes
    }
}
