internal import CLibrdkafka

/// Messages of one partition, taken from librdkafka in one batch and not yet handed over; each is freed once.
///
/// A batch is counted in records, a demand in bytes too, so a batch may bring more than is wanted. The rest waits here,
/// at most one batch.
struct MessageBuffer: ~Copyable {
    typealias Message = UnsafeMutablePointer<rd_kafka_message_t>

    /// Most messages of a batch.
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

    /// Frees all messages.
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
