internal import CLibrdkafka
import Logging

/// Drives the librdkafka producer. Made on the owner thread and confined to it.
final class ProducerLoop {
    /// A turn at least this often, should a wake-up be missed: queues signal only when they stop being empty.
    private static let safetyTick = Duration.seconds(1)
    /// How long the destruction of a client in fatal state may take before its thread is left behind.
    private static let replacementDeadline = Duration.seconds(5)

    struct Closing {
        let deadline: ContinuousClock.Instant
        /// The last part of the time, kept for purging and destroying: a tenth of it, at most a second.
        let reserve: Duration
        var replies: [@Sendable () -> Void] = []
        var isPurged = false

        init(start: ContinuousClock.Instant, deadline: ContinuousClock.Instant) {
            self.deadline = deadline
            reserve = min((deadline - start) / 10, .seconds(1))
        }

        /// When waiting for acknowledgements ends.
        var purgeTime: ContinuousClock.Instant { deadline - reserve - reserve }

        /// When waiting for the purged records' reports ends.
        var settleTime: ContinuousClock.Instant { deadline - reserve }
    }

    private let inbox: ProducerInbox
    private let wake: EventDescriptor
    private let properties: ClientProperties
    private let logger: Logger
    private let observer: ClientObserver
    private(set) var client: ProducerClient?
    private var batches = DeliveryBatches()
    private var budget: RecreationBudget
    private var fatalError: KafkaError?
    private(set) var closing: Closing?

    init(
        handle: KafkaHandle, properties: ClientProperties, inbox: ProducerInbox, wake: EventDescriptor,
        configuration: KafkaProducerConfiguration, logger: Logger
    ) throws(KafkaError) {
        self.inbox = inbox
        self.wake = wake
        self.properties = properties
        self.logger = logger
        observer = ClientObserver(client: "producer", configuration: configuration.client, logger: logger)
        budget = RecreationBudget(limit: configuration.recreationsPerMinute)
        client = try ProducerClient(handle: handle, wake: wake)
    }

    /// Runs until everything is answered after `close`, or its deadline is over. No record is left without an answer.
    func run() {
        while true {
            for command in inbox.takeCommands() { carryOut(command) }
            serveEvents()
            if fatalError != nil { replaceClient() }
            produceWaiting()
            if let closing {
                if batches.isEmpty || .now >= closing.settleTime { break }
                if .now >= closing.purgeTime, !closing.isPurged {
                    batches.resolveWaiting(.failed(.closed, .notPersisted))
                    client?.purge()
                    self.closing?.isPurged = true
                    continue
                }
            }
            wake.wait(timeout: timeout)
        }
        batches.resolveWaiting(.failed(.closed, .notPersisted))
        batches.resolveSent(.failed(.closed, .possiblyPersisted))
    }

    /// Frees the client's queue and hands out its handle for destruction.
    func releaseClient() -> KafkaHandle? {
        defer { client = nil }
        while let event = client?.nextEvent() { observer.observe(event.content) }
        return client?.handle
    }

    private var timeout: Duration {
        guard let closing else { return Self.safetyTick }
        let next = closing.isPurged ? closing.settleTime : closing.purgeTime
        return min(Self.safetyTick, max(next - .now, .zero))
    }

    // MARK: Commands

    private func carryOut(_ command: ProducerCommand) {
        switch command {
        case .send(let records, let id, let reply):
            guard closing == nil, !records.isEmpty else { return command.refuse() }
            batches.add(records, id: id, reply: reply)
            // At once, so that commands act on what was sent before them.
            produceWaiting()
        case .giveUp(let id):
            // Reports that came in count.
            serveEvents()
            batches.giveUp(
                id, sent: .failed(.cancelled, .possiblyPersisted), unsent: .failed(.cancelled, .notPersisted))
        case .warmUp(let topics, let timeout, let reply):
            reply(client?.warmUp(topics, timeout: timeout) ?? .failure(fatalError ?? .closed))
        case .failFatally(let reply):
            if let client {
                rd_kafka_test_fatal_error(client.handle.pointer, RD_KAFKA_RESP_ERR__FATAL, "requested")
            }
            reply()
        case .close(let deadline, let reply):
            if closing == nil { closing = Closing(start: .now, deadline: deadline) }
            if let reply { closing?.replies.append(reply) }
        }
    }

    // MARK: Records

    private func produceWaiting() {
        while let (slot, record) = batches.nextWaiting {
            guard let client else {
                // No client may be made at present; waiting would only hide it from the senders.
                return batches.resolveWaiting(.failed(fatalError ?? .closed, .notPersisted))
            }
            switch client.produce(record, slot: slot) {
            case .accepted: batches.advance()
            // Delivery reports make room and wake this thread.
            case .full: return
            case .refused(.fatal(let failure)):
                fatalError = .fatal(failure)
                return wake.signal()
            case .refused(let error):
                batches.advance()
                batches.resolve(slot, .failed(error, .notPersisted))
            }
        }
    }

    private func serveEvents() {
        while let event = client?.nextEvent() {
            let content = event.content
            observer.observe(content)
            switch content {
            case .deliveries: event.forEachDelivery(settle)
            case .error(_, _, let isFatal) where isFatal: fatalError = client?.handle.fatalError
            default: break
            }
        }
    }

    private func settle(_ message: UnsafePointer<rd_kafka_message_t>) {
        let slot = DeliveryBatches.Slot(bits: UInt64(UInt(bitPattern: message.pointee._private)))
        let code = message.pointee.err
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else {
            guard let topic = batches.topic(of: slot) else { return }
            let partition = KafkaPartition(topic: topic, index: message.pointee.partition)
            return batches.resolve(slot, .delivered(partition, offset: message.pointee.offset))
        }
        observer.count("failed_records")
        let persistence: KafkaPersistence =
            rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED ? .notPersisted : .possiblyPersisted
        batches.resolve(slot, .failed(KafkaError(code), persistence))
    }

    // MARK: Fatal state

    /// A producer in fatal state accepts nothing ever after. What it held may or may not be in the log; what it did not
    /// hold yet goes to its successor.
    private func replaceClient() {
        if let handle = releaseFatalClient() {
            let destroyed = (try? handle.destroy(leavingGroup: false, timeout: Self.replacementDeadline)) ?? false
            logger.error("Kafka producer in fatal state", metadata: ["destroyed": "\(destroyed)"])
        }
        guard closing == nil, budget.take(now: .now) else { return }
        do throws(KafkaError) {
            let handle = try KafkaHandle(RD_KAFKA_PRODUCER, properties: properties, events: RD_KAFKA_EVENT_DR)
            client = try ProducerClient(handle: handle, wake: wake)
            fatalError = nil
            observer.count("recreations")
            logger.notice("Kafka producer made anew")
        } catch {
            logger.error("Kafka producer cannot be made anew", metadata: ["error": "\(error)"])
        }
    }

    private func releaseFatalClient() -> KafkaHandle? {
        guard client != nil else { return nil }
        client?.purge()
        batches.resolveSent(.failed(fatalError ?? .closed, .possiblyPersisted))
        return releaseClient()
    }
}
