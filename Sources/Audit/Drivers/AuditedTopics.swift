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

    /// The age below which no record leaves a topic, by its properties. Nil where records may leave it at any age, and
    /// where the properties may not be read.
    func retention(of topic: String) throws(KafkaError) -> Duration?

    /// Hands over the records of these stretches that are still there, in order within a partition, until no more are
    /// wanted.
    func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicPartition, [InputRecord]) -> Bool
    ) throws(KafkaError)
}

extension AuditedTopics {
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

    /// The moment before which records may have left a topic again; nil where none has.
    ///
    /// A retention that was shorter once, and a deletion by hand, may have taken younger ones from an empty
    /// partition. Their events then seem to be missing, which is the safe side: to tell one again is harmless.
    /// - Parameter oldest: Of each partition that records have left, the time of the oldest one that is left; nil where
    ///   none is.
    func retained(of topic: String, _ oldest: [Timestamp?], now: Timestamp) throws(KafkaError) -> Timestamp? {
        var times = oldest.compactMap(\.self)
        if times.count < oldest.count {
            // Nobody knows how young the last one was that left an empty partition. It was as old as the topic demands.
            let leastAge = try retention(of: topic) ?? .zero
            times.append(now.advanced(by: .zero - leastAge))
        }
        return times.max()?.advanced(by: AuditLimits.tolerance)
    }
}
