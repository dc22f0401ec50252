public import Kafka
public import Logging
public import Purchases

/// The names of the output topics.
public struct OutputTopics: Hashable, Sendable {
    public let granted: String
    public let failed: String
    public let quarantined: String

    /// Topics by name.
    public init(granted: String, failed: String, quarantined: String) {
        self.granted = granted
        self.failed = failed
        self.quarantined = quarantined
    }

    /// The topic that carries events of a kind.
    public subscript(kind: EventTopic) -> String {
        switch kind {
        case .granted: granted
        case .failed: failed
        case .quarantined: quarantined
        }
    }
}

/// The output topics on Kafka.
public struct KafkaEventSink: EventSink {
    private let producer: KafkaProducer
    private let topics: OutputTopics
    private let logger: Logger

    /// Publishes through a producer, which stays its maker's to close.
    public init(_ producer: KafkaProducer, topics: OutputTopics, logger: Logger) {
        self.producer = producer
        self.topics = topics
        self.logger = logger
    }

    public func publish(_ events: [Event]) async -> [Bool] {
        let deliveries = await producer.send(
            events.map { event in
                KafkaProducerRecord(
                    topic: topics[event.kind], key: event.key, value: event.value,
                    headers: event.headers.map { KafkaHeader(name: $0.name, value: $0.value) })
            })
        let cancelled = deliveries.count { if case .failed(.cancelled, _) = $0 { true } else { false } }
        if cancelled > 0 {
            logger.notice(
                "Not waiting any longer for acknowledgements; these events are published again",
                metadata: ["events": "\(cancelled)"])
        }
        return zip(events, deliveries).map { event, delivery in
            switch delivery {
            case .delivered: return true
            // Nothing that Kafka did, and hundreds at once.
            case .failed(.cancelled, _): return false
            case .failed(let error, _):
                logger.warning(
                    "An event was not acknowledged",
                    metadata: ["eventId": "\(event.id)", "topic": "\(topics[event.kind])", "error": "\(error)"])
                return false
            }
        }
    }
}
