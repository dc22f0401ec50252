public import Kafka
public import Ledger

/// Why an audit has come to no end. Nothing is said about what it was to look at.
public enum AuditError: Error, Hashable, Sendable {
    /// Kafka did not say where topics begin and end, or where the group is.
    case kafka(KafkaError)
    case ledger(LedgerError)
    /// A folder for temporary files takes none, or no more.
    case folder(String, errno: Int32)
    /// More partitions than ``Fact/mostPartitions``.
    case tooManyPartitions(Int)
    /// The system gives no thread.
    case noThread
}
