internal import Threading

/// The queues of the partitions that are read, and the one whose turn it is.
///
/// Each partition keeps its records in its own queue, from which they are taken directly. Led together into one queue
/// they would be lost sight of: librdkafka 2.0.2 forgets where a queue leads to when its partition is assigned again.
struct PartitionReaders {
    /// One partition with its queue.
    struct Reader {
        let partition: KafkaPartition
        let queue: ClientQueue
    }

    private var readers: [Reader] = []
    private var next = 0
    private let handle: ClientHandle
    private let wake: WakeDescriptor

    init(of handle: ClientHandle, wake: WakeDescriptor) {
        self.handle = handle
        self.wake = wake
    }

    var count: Int { readers.count }

    /// The reader whose turn it is; each has its turn in a round.
    mutating func nextReader() -> Reader? {
        guard !readers.isEmpty else { return nil }
        next = next < readers.count ? next : 0
        defer { next += 1 }
        return readers[next]
    }

    /// Adds readers for partitions that have none. To be called before they are assigned: fetching begins with that.
    mutating func add(_ partitions: some Collection<KafkaPartition>) throws(KafkaError) {
        for partition in partitions where !readers.contains(where: { $0.partition == partition }) {
            let queue = try ClientQueue.records(of: partition, handle)
            queue.signal(wake)
            readers.append(Reader(partition: partition, queue: queue))
        }
        readers.sort { $0.partition < $1.partition }
    }

    /// Removes the readers of all partitions but these.
    mutating func keep(only partitions: some Collection<KafkaPartition>) {
        // librdkafka's own reference to the queue lives on, and must not signal a descriptor that may be closed by
        // then.
        for reader in readers where !partitions.contains(reader.partition) { reader.queue.stopSignalling() }
        readers.removeAll { !partitions.contains($0.partition) }
    }
}
