/// One line of standard input.
enum MockCommand {
    case topic(String, partitions: Int32)
    case down(Int32)
    case up(Int32)
    case roundTrip(Int32, milliseconds: Int32)
    case leader(String, partition: Int32, broker: Int32)
    case coordinator(String, broker: Int32)
    case error(apiKey: Int16, code: Int32, count: Int)
    case quit

    static let usage = """
        topic NAME PARTITIONS | down ID | up ID | rtt ID MS | leader TOPIC PARTITION BROKER \
        | coordinator GROUP BROKER | error APIKEY CODE COUNT | quit
        """

    /// Most errors that one line may ask for.
    private static let maxErrors = 10_000

    init?(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("topic", 3):
            guard let partitions = Int32(words[2]), partitions > 0 else { return nil }
            self = .topic(words[1], partitions: partitions)
        case ("down", 2):
            guard let broker = Int32(words[1]) else { return nil }
            self = .down(broker)
        case ("up", 2):
            guard let broker = Int32(words[1]) else { return nil }
            self = .up(broker)
        case ("rtt", 3):
            guard let broker = Int32(words[1]), let milliseconds = Int32(words[2]), milliseconds >= 0 else {
                return nil
            }
            self = .roundTrip(broker, milliseconds: milliseconds)
        case ("leader", 4):
            guard let partition = Int32(words[2]), let broker = Int32(words[3]) else { return nil }
            self = .leader(words[1], partition: partition, broker: broker)
        case ("coordinator", 3):
            guard let broker = Int32(words[2]) else { return nil }
            self = .coordinator(words[1], broker: broker)
        case ("error", 4):
            guard let key = Int16(words[1]), let code = Int32(words[2]), let count = Int(words[3]),
                (1...Self.maxErrors).contains(count)
            else { return nil }
            self = .error(apiKey: key, code: code, count: count)
        case ("quit", 1): self = .quit
        default: return nil
        }
    }

    func carryOut(on cluster: borrowing MockCluster) throws(MockError) {
        switch self {
        case .topic(let name, let partitions): try cluster.createTopic(name, partitions: partitions)
        case .down(let broker): try cluster.setDown(broker: broker)
        case .up(let broker): try cluster.setUp(broker: broker)
        case .roundTrip(let broker, let milliseconds):
            try cluster.setRoundTrip(milliseconds: milliseconds, broker: broker)
        case .leader(let topic, let partition, let broker):
            try cluster.setLeader(topic: topic, partition: partition, broker: broker)
        case .coordinator(let group, let broker): try cluster.setCoordinator(group: group, broker: broker)
        case .error(let apiKey, let code, let count): cluster.pushErrors(apiKey: apiKey, code: code, count: count)
        case .quit: break
        }
    }
}
