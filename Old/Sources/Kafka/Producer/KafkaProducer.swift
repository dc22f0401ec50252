internal import CLibrdkafka
public import Logging

/// An idempotent producer: what it reports as delivered is with all in-sync replicas, once and in order per partition.
///
/// One OS thread owns the librdkafka client, hands it records and serves its delivery reports as they come. When
/// librdkafka raises a fatal error the client is replaced; see `KafkaProducerConfiguration.recreationsPerMinute`.
public final class KafkaProducer: Sendable {
    /// How long a producer that was released without `close` may take to deliver what it holds.
    private static let abandonedDeadline = Duration.seconds(5)

    private let inbox: ProducerInbox

    /// Returns at once; brokers are reached when there is something to send.
    /// - Throws: a configuration error that names the property, or `resourcesExhausted`.
    public init(configuration: KafkaProducerConfiguration, logger: Logger) throws(KafkaError) {
        let properties = try configuration.properties()
        let wake = try EventDescriptor()
        let inbox = ProducerInbox(wake: wake)
        let handle = try KafkaHandle(RD_KAFKA_PRODUCER, properties: properties, events: RD_KAFKA_EVENT_DR)
        self.inbox = inbox
        do throws(KafkaError) {
            try DedicatedThread.start("kafka-producer") {
                Self.run(handle, properties, inbox, wake, configuration, logger)
            }
        } catch {
            handle.destroy(leavingGroup: false)
            throw error
        }
    }

    deinit { inbox.submit(.close(deadline: .now + Self.abandonedDeadline, nil)) }

    /// Sends records and suspends until each one's fate is known: one answer per record, in their order.
    ///
    /// Waits for room when the buffer is full, and for brokers as long as `messageTimeout` allows. An empty array is
    /// answered with an empty array.
    ///
    /// When the task is cancelled this returns at once: a record whose fate is not known yet has failed with `cancelled`.
    /// That takes back only what librdkafka does not hold yet; the rest may still be delivered, and `close` does not wait
    /// for it.
    public func send(_ records: [KafkaProducerRecord]) async -> [KafkaDelivery] {
        let id = inbox.makeSendID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                inbox.submit(.send(records, id: id) { continuation.resume(returning: $0) })
                // A task that was cancelled before this asked when there was nothing yet to give up.
                if Task.isCancelled { inbox.submit(.giveUp(id: id)) }
            }
        } onCancel: {
            inbox.submit(.giveUp(id: id))
        }
    }

    /// As the other `send`, without waiting: `reply` is called once, on the owner thread.
    func send(_ records: [KafkaProducerRecord], reply: @escaping @Sendable ([KafkaDelivery]) -> Void) {
        inbox.submit(.send(records, id: inbox.makeSendID(), reply))
    }

    /// Fetches the topics' metadata, so that the first record of each does not wait for it (up to a second in librdkafka
    /// before 2.10.1). For start-up: no delivery is reported meanwhile.
    /// - Throws: `transient` when no broker answers within `timeout` or a topic does not exist (yet), `denied`, `closed`.
    public func warmUp(topics: [String], timeout: Duration = .seconds(5)) async throws(KafkaError) {
        let result: Result<Void, KafkaError> = await withCheckedContinuation { continuation in
            inbox.submit(.warmUp(topics, timeout: timeout) { continuation.resume(returning: $0) })
        }
        try result.get()
    }

    /// Waits until every `send` is answered, fails what is left near the deadline, and frees the client. Records sent
    /// from now on fail with `closed`.
    public func close(deadline: Duration) async {
        await BoundedWait.run(limit: deadline) { answer in
            inbox.submit(.close(deadline: .now + deadline) { answer() })
        }
    }

    /// Puts the client into fatal state.
    func failFatally() async {
        await withCheckedContinuation { continuation in
            inbox.submit(.failFatally { continuation.resume() })
        }
    }

    /// The owner thread, from beginning to end.
    private static func run(
        _ handle: KafkaHandle, _ properties: ClientProperties, _ inbox: ProducerInbox, _ wake: EventDescriptor,
        _ configuration: KafkaProducerConfiguration, _ logger: Logger
    ) {
        let loop: ProducerLoop
        do throws(KafkaError) {
            loop = try ProducerLoop(
                handle: handle, properties: properties, inbox: inbox, wake: wake, configuration: configuration,
                logger: logger)
        } catch {
            logger.error("Kafka producer could not start", metadata: ["error": "\(error)"])
            return inbox.abandon()
        }
        loop.run()
        let rest = loop.closing.map { max($0.deadline - .now, .zero) } ?? .zero
        if let last = loop.releaseClient(),
            (try? last.destroy(leavingGroup: false, timeout: rest)) != true
        {
            logger.warning("Kafka producer closed without finishing")
        }
        inbox.abandon()
        for reply in loop.closing?.replies ?? [] { reply() }
    }
}
