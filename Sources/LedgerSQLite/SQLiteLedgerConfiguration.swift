public import Contract
import Glibc

/// Where an embedded ledger is and how it is opened.
public struct SQLiteLedgerConfiguration: Sendable {
    /// The database file, on a local disk. Relative paths start at the working directory of the moment of opening.
    public var path: String
    /// Milliseconds that a statement waits for another process's write before the call is `.unavailable`.
    public var busyTimeout: Int
    /// The ledger's clock, by which rows are due and leases end. All processes that share the file are on one host, so
    /// that its wall clock is the database's.
    public var clock: @Sendable () -> Timestamp

    /// A ledger with the settings that suit a worker.
    public init(
        path: String, busyTimeout: Int = 5_000, clock: @escaping @Sendable () -> Timestamp = Self.wallClock
    ) {
        self.path = path
        self.busyTimeout = busyTimeout
        self.clock = clock
    }

    /// The host's wall clock.
    @Sendable public static func wallClock() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
