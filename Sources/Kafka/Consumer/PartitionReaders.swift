internal import CLibrdkafka
internal import Contract
internal import Threading

/// The queues of the partitions that are read, and the one whose turn it is.
///
/// Each partition keeps its records in its own queue, from which they are taken directly. They are not led into one
/// queue: librdkafka 2.0.2 forgets where a queue leads to when its partition is assigned again.
struct PartitionReaders {
    typealias Reader = (partition: TopicPartition, queue: ClientQueue)

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
    mutating func add(_ partitions: some Collection<TopicPartition>) throws(KafkaError) {
        for partition in partitions where !readers.contains(where: { $0.partition == partition }) {
            let queue = try ClientQueue.records(of: partition, handle)
            queue.signal(wake)
            readers.append((partition, queue))
        }
        readers.sort { $0.partition < $1.partition }
    }

    /// Removes the readers of all partitions but these.
    mutating func keep(only partitions: some Collection<TopicPartition>) {
        // librdkafka's own reference to the queue lives on, and must not signal a descriptor that may be closed by
        // then.
        for reader in readers where !partitions.contains(reader.partition) { reader.queue.stopSignalling() }
        readers.removeAll { !partitions.contains($0.partition) }
    }
}

/// Messages of one partition, taken from librdkafka in one batch and not yet handed over; each is freed once.
///
/// A batch is counted in records, a demand in bytes too, so a batch may bring more than is wanted. The rest waits here,
/// at most one batch.
struct MessageBuffer: ~Copyable {
    typealias Message = UnsafeMutablePointer<rd_kafka_message_t>

    static let capacity = 256

    private let messages = UnsafeMutableBufferPointer<Message?>.allocate(capacity: capacity)
    private var first = 0
    private var end = 0

    init() { messages.initialize(repeating: nil) }

    deinit {
        for index in first..<end { rd_kafka_message_destroy(messages[index]) }
        messages.deallocate()
    }

    var count: Int { end - first }
    var isEmpty: Bool { first == end }

    /// Takes a batch from a partition's queue, if everything before was handed over.
    mutating func fill(from queue: ClientQueue) {
        guard isEmpty else { return }
        first = 0
        end = queue.takeRecords(into: messages)
    }

    /// Hands out the oldest message, which the caller destroys.
    mutating func takeOldest() -> Message? {
        guard !isEmpty else { return nil }
        defer { first += 1 }
        return messages[first]
    }

    /// - Returns: how many.
    mutating func removeAll() -> Int {
        var removed = 0
        while let message = takeOldest() {
            rd_kafka_message_destroy(message)
            removed += 1
        }
        return removed
    }
}

/// The records that the owner lets come, against those that have come. Pure.
struct RecordDemand {
    private var allowed: (records: Int64, bytes: Int64) = (0, 0)
    private var given: (records: Int64, bytes: Int64) = (0, 0)

    mutating func set(records: Int64, bytes: Int64) { allowed = (records, bytes) }

    /// Whether one more record may come, whatever its size.
    var isOpen: Bool { given.records < allowed.records && given.bytes < allowed.bytes }

    mutating func gave(bytes: Int) {
        given.records += 1
        given.bytes += Int64(bytes)
    }
}

/// Decides when librdkafka is to be reminded that there is room for more records.
///
/// Once its prefetch is full, librdkafka before 2.2.0 checks again only after a second, or when something wakes the
/// broker's thread. Since 2.2.0 `fetch.queue.backoff.ms` sets that time. A faster reader would wait for the rest of
/// each second. With 16 MiB of receipts of 11 KB no more than 1,500 a second came.
struct PrefetchRefill {
    /// Half of what librdkafka may hold of a partition.
    private let records: Int
    private let bytes: Int
    private var taken: [TopicPartition: (records: Int, bytes: Int)] = [:]
    private var half: [TopicPartition] = []

    /// How much librdkafka may hold of a partition.
    init(records: Int, bytes: Int) {
        self.records = max(1, records / 2)
        self.bytes = max(1, bytes / 2)
    }

    mutating func took(records: Int = 1, bytes: Int, of partition: TopicPartition) {
        var sum = taken[partition] ?? (0, 0)
        sum = (sum.records + records, sum.bytes + bytes)
        let isHalf = sum.records >= self.records || sum.bytes >= self.bytes
        taken[partition] = isHalf ? nil : sum
        if isHalf { half.append(partition) }
    }

    /// Partitions of which half has been taken since they were due last.
    mutating func due() -> [TopicPartition] {
        defer { half.removeAll(keepingCapacity: true) }
        return half
    }
}
