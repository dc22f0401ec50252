public import Fulfillment
public import Kafka
public import Ledger

/// Why an audit could not be finished.
public enum AuditError: Error, Hashable, Sendable {
    case ledger(LedgerError)
    case kafka(KafkaError)
}

extension AuditError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .ledger(let error): "\(error)"
        case .kafka(let error): "the topics cannot be read: \(error)"
        }
    }
}

/// The topics as an audit reads them.
public protocol AuditedTopics: Sendable {
    /// The offsets (next to read) that the group has committed for the input topic.
    func committed() async throws(KafkaError) -> [TopicPartition: Int64]

    /// What the partitions of all four topics hold, from the oldest record to the next to be written.
    func offsets() async throws(KafkaError) -> [TopicPartition: Range<Int64>]

    /// Hands over the records of these stretches, those of a partition in order, and perhaps some that came in since.
    func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicRecord) -> Void
    ) async throws(KafkaError)
}
