import Kafka

/// One line of standard input.
enum MockBrokerCommand {
    case topic(String, partitions: Int)
    case down(Int32)
    case up(Int32)
    case roundTrip(Int32, Duration)
    case leader(KafkaPartition, broker: Int32)
    case coordinator(String, broker: Int32)
    case error(KafkaRequestKind, KafkaInjectedError, count: Int)
    case quit

    static let usage = """
        topic NAME PARTITIONS | down ID | up ID | rtt ID MS | leader TOPIC PARTITION BROKER \
        | coordinator GROUP BROKER | error APIKEY CODE COUNT | quit
        """

    /// Errors that one line may ask for.
    private static let errorLimit = 10_000

    init?(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("topic", 3):
            guard let partitions = Int(words[2]), partitions > 0 else { return nil }
            self = .topic(words[1], partitions: partitions)
        case ("down", 2):
            guard let broker = Int32(words[1]) else { return nil }
            self = .down(broker)
        case ("up", 2):
            guard let broker = Int32(words[1]) else { return nil }
            self = .up(broker)
        case ("rtt", 3):
            guard let broker = Int32(words[1]), let milliseconds = UInt32(words[2]) else { return nil }
            self = .roundTrip(broker, .milliseconds(milliseconds))
        case ("leader", 4):
            guard let index = Int32(words[2]), let broker = Int32(words[3]) else { return nil }
            self = .leader(KafkaPartition(topic: words[1], index: index), broker: broker)
        case ("coordinator", 3):
            guard let broker = Int32(words[2]) else { return nil }
            self = .coordinator(words[1], broker: broker)
        case ("error", 4):
            guard let key = Int16(words[1]), let code = Int32(words[2]), let count = Int(words[3]),
                (1...Self.errorLimit).contains(count)
            else { return nil }
            self = .error(KafkaRequestKind(apiKey: key), KafkaInjectedError(code: code), count: count)
        case ("quit", 1): self = .quit
        default: return nil
        }
    }

    func carryOut(on cluster: KafkaMockCluster) throws(KafkaError) {
        switch self {
        case .topic(let name, let partitions): try cluster.createTopic(name, partitions: partitions)
        case .down(let broker): try cluster.setDown(broker: broker)
        case .up(let broker): try cluster.setUp(broker: broker)
        case .roundTrip(let broker, let duration): try cluster.setRoundTrip(duration, broker: broker)
        case .leader(let partition, let broker): try cluster.setLeader(of: partition, broker: broker)
        case .coordinator(let group, let broker): try cluster.setCoordinator(ofGroup: group, broker: broker)
        case .error(let kind, let error, let count):
            cluster.pushRequestErrors(kind, Array(repeating: error, count: count))
        case .quit: break
        }
    }
}
