public import Contract
public import Kafka

/// The topics of a deployment, as an audit reads them: without a group, and without moving an offset.
public protocol AuditedTopics: Sendable {
    /// The offsets (the next to be read) that the workers' group has committed.
    func committed(in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64]

    /// The offsets that each partition of a topic holds: from its oldest record to the next to be written.
    func offsets(of topic: String) throws(KafkaError) -> [TopicPartition: Range<Int64>]

    /// Of each partition the first offset with this time or a later one; none where there is no such record.
    func offsets(at time: Timestamp, in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64]

    /// Hands over the records of these stretches that are still there, in order within a partition, until no more are
    /// wanted.
    func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicPartition, [InputRecord]) -> Bool
    ) throws(KafkaError)
}

extension AuditedTopics {
    /// Asks Kafka something.
    func asking<Answer>(_ question: () throws(KafkaError) -> Answer) throws(AuditError) -> Answer {
        do throws(KafkaError) { return try question() } catch { throw .kafka(error) }
    }

    /// The time of the oldest record of each stretch, as far as the stretch has a record with a time.
    func oldestTimes(of stretches: [TopicPartition: Range<Int64>]) throws(KafkaError) -> [TopicPartition: Timestamp] {
        var left = stretches.filter { !$0.value.isEmpty }
        guard !left.isEmpty else { return [:] }
        var times: [TopicPartition: Timestamp] = [:]
        try read(left) { partition, records in
            if left.removeValue(forKey: partition) != nil { times[partition] = records.first?.timestamp }
            return !left.isEmpty
        }
        return times
    }
}
