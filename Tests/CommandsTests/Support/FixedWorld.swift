import AppStore
import Audit
import CommandParser
import Contract
import Kafka
import Synchronization

@testable import Commands

/// Topics of one partition each, as an audit reads them.
struct FixedTopics: AuditedTopics {
    var records: [Topic: [InputRecord]] = [:]
    /// The input topic's.
    var committed: Int64?
    /// Records that have left the input topic, before those that are there.
    var removed: Int64 = 0
    /// Ends of partitions of the input topic, in place of those that the records give.
    var ends: [Int32: Int64] = [:]
    /// Of every question about offsets.
    var failure: KafkaError?

    static func record(_ topic: Topic, _ offset: Int64, _ value: String) -> InputRecord {
        InputRecord(
            origin: Origin(topic: topic.defaultName, partition: 0, offset: offset), key: nil, value: Array(value.utf8),
            timestamp: FixedLedger.time)
    }

    func committed(in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        Dictionary(partitions.compactMap { partition in committed.map { (partition, $0) } }) { first, _ in first }
    }

    func offsets(of topic: String) throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        if let failure { throw failure }
        guard ends.isEmpty else {
            return Dictionary(ends.map { (TopicPartition(topic: topic, partition: $0), 0..<$1) }) { first, _ in first }
        }
        let count = records.first { $0.key.defaultName == topic }?.value.count ?? 0
        let first = topic == Topic.submitted.defaultName ? removed : 0
        return [TopicPartition(topic: topic, partition: 0): first..<first + Int64(count)]
    }

    func retention(of topic: String) throws(KafkaError) -> Duration? { nil }

    func offsets(
        at time: Timestamp, in partitions: [TopicPartition]
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        time > FixedLedger.time ? [:] : Dictionary(partitions.map { ($0, 0) }) { first, _ in first }
    }

    func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicPartition, [InputRecord]) -> Bool
    ) throws(KafkaError) {
        for (partition, stretch) in stretches {
            let records = records.first { $0.key.defaultName == partition.topic }?.value ?? []
            guard take(partition, records.filter { stretch.contains($0.origin.offset) }) else { return }
        }
    }
}

/// An Apple that answers every call alike, and notes the calls.
struct FixedApple: AppleCaller {
    final class Asked: Sendable {
        private let calls = Mutex<[String]>([])

        var all: [String] { calls.withLock { $0 } }

        func add(_ call: String) { calls.withLock { $0.append(call) } }
    }

    var answer = AppStoreReply.response(httpStatus: 200, retryAfter: nil, body: Array("{\"status\":21002}".utf8))
    /// For one environment, instead of ``answer``.
    var sandboxAnswer: AppStoreReply?
    let asked = Asked()

    func reply(to call: AppleCall) -> AppStoreReply {
        asked.add("\(call)")
        return call.endpoint.environment == .sandbox ? sandboxAnswer ?? answer : answer
    }

    func replyToEmptyReceipt(_ environment: Environment) -> AppStoreReply {
        asked.add("empty receipt \(environment.rawValue)")
        return environment == .sandbox ? sandboxAnswer ?? answer : answer
    }
}

/// Takes records until a test has it refuse.
final class FixedSender: RecordSender, Sendable {
    private let taken = Mutex<[KafkaProducerRecord]>([])
    private let limit = Mutex(Int.max)
    private let refusal = Mutex(KafkaRefusal.timedOut)

    var records: [KafkaProducerRecord] { taken.withLock { $0 } }
    var isAway: Bool { false }

    /// From now on it takes so many calls, and no more.
    func refuse(_ refusal: KafkaRefusal = .timedOut, after calls: Int = 0) {
        self.refusal.withLock { $0 = refusal }
        limit.withLock { $0 = calls }
    }

    func send(_ records: [KafkaProducerRecord]) throws(KafkaRefusal) -> [Origin] {
        let isRefused = limit.withLock { limit in
            limit -= 1
            return limit < 0
        }
        if isRefused { throw refusal.withLock { $0 } }
        taken.withLock { $0 += records }
        return records.map { Origin(topic: $0.topic, partition: 2, offset: 9) }
    }

    func close() {}
}
