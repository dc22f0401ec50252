/// Why a worker cannot start, or has ended. Each case says how the process ends.
public enum WorkerFailure: Error, Hashable, Sendable {
    /// A setting cannot be used: exit with 78.
    case configuration(String)
    /// The ledger cannot be used, or is not the one that the group has worked with: exit with 78.
    case ledger(String)
    /// The system refuses what the worker needs, or Kafka's client cannot go on: exit with 1, to be started again.
    case failed(String)
}
