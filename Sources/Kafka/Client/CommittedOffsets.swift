internal import CLibrdkafka

extension ClientHandle {
    /// The offsets (the next to be read) that the client's own group has committed; partitions without one, and those
    /// of topics that are not there, are left out. Asks the group's coordinator and waits. The client need not be a
    /// member.
    ///
    /// `ListConsumerGroupOffsets` (KIP-222) would not wait. In librdkafka 2.0 it ends the process while a coordinator
    /// moves or loads: by an assertion (`eonce->refcnt > 0`), and by SIGSEGV where the client has no group.
    ///
    /// - Throws: `denied` where the group may not be looked at, `transient` when its coordinator does not answer within
    ///   `timeout`.
    func committedOffsets(
        _ partitions: some Collection<KafkaPartition>, timeout: Duration
    ) throws(KafkaError) -> [KafkaPartition: Int64] {
        let list = try PartitionList(partitions)
        try KafkaError.check(rd_kafka_committed(pointer, list.pointer, timeout.wholeMilliseconds))
        let missing = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue
        let refused = list.refused.filter { $0.value.failure?.code != missing }
        if let error = refused.min(by: { $0.key < $1.key })?.value { throw error }
        return list.offsets.filter { $0.value >= 0 }
    }
}

extension Duration {
    /// Whole milliseconds for a C timeout: rounded up, so that a loop never spins through the last fraction.
    var wholeMilliseconds: Int32 {
        let milliseconds = self / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), Double(Int32.max)))
    }
}
