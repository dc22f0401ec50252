internal import CLibrdkafka
public import Logging

/// A member of a consumer group, read by asking: nothing is fetched into Swift's memory that nobody asked for.
///
/// One OS thread owns the librdkafka client and makes all calls to it; it sleeps until there is something to do.
/// Rebalances are served whether or not anybody calls `next`. All methods may be called from any task; `next` from one
/// at a time.
public final class KafkaConsumer: Sendable {
    /// How long a consumer that was released without `close` may take to leave its group.
    private static let abandonedDeadline = Duration.seconds(5)

    private let inbox: ConsumerInbox
    private let pulse: ConsumerPulse

    /// Joins the group. Returns at once; the first assignment comes as an event, and only once brokers are reachable.
    /// - Throws: a configuration error that names the property, or `resourcesExhausted`.
    public init(configuration: KafkaConsumerConfiguration, logger: Logger) throws(KafkaError) {
        let properties = try configuration.properties()
        let wake = try EventDescriptor()
        let inbox = ConsumerInbox(wake: wake)
        let handle = try KafkaHandle(
            RD_KAFKA_CONSUMER, properties: properties,
            events: RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_FETCH)
        let pulse = ConsumerPulse(hasReports: configuration.client.statisticsInterval > .zero)
        self.inbox = inbox
        self.pulse = pulse
        // Still before the owner thread exists, so that these errors can be thrown.
        do throws(KafkaError) {
            guard let topics = PartitionList(configuration.topics.map { KafkaPartition(topic: $0, index: -1) }) else {
                throw .resourcesExhausted("rd_kafka_topic_partition_list_new", errno: 0)
            }
            let code = rd_kafka_subscribe(handle.pointer, topics.pointer)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw .invalidConfiguration(KafkaFailure(code)) }
            try DedicatedThread.start("kafka-consumer") {
                Self.run(handle, inbox, wake, pulse, configuration, logger)
            }
        } catch {
            handle.destroy(leavingGroup: false)
            throw error
        }
    }

    deinit { inbox.submit(.close(deadline: .now + Self.abandonedDeadline, nil)) }

    /// The next thing that happened. Suspends until there is one.
    ///
    /// - Parameters:
    ///   - maxRecords: at most so many records; with 0 only changes of the assignment are answered.
    ///   - maxBytes: at most so many bytes of keys, values and headers; a single record may be larger.
    /// - Returns: `nil` once `close` was called.
    /// - Throws: `cancelled` at once when the calling task is cancelled, losing nothing; `concurrentNext` when another
    ///   call is waiting; `fatal` when the client cannot go on, from then on every time.
    public func next(maxRecords: Int, maxBytes: Int) async throws(KafkaError) -> KafkaConsumerEvent? {
        let id = inbox.makeDemandID()
        let result: Result<KafkaConsumerEvent?, KafkaError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                inbox.wait(
                    ConsumerInbox.Demand(id: id, maxRecords: max(maxRecords, 0), maxBytes: maxBytes) {
                        continuation.resume(returning: $0)
                    })
            }
        } onCancel: {
            inbox.cancelDemand(id)
        }
        return try result.get()
    }

    /// Marks how far the application has come; the offsets (the next to read) are committed within the configured
    /// interval, at revocation and at close. One that is lower than the one stored before is committed at once.
    /// - Parameter epochs: the epochs under which the records were read. Where a partition was given back since, or is
    ///   this member's anew, its offset is left alone: it may be another member's by now, and further on.
    /// - Returns: partitions that are no longer this member's, or its anew, and were left alone.
    /// - Throws: `closed`.
    @discardableResult
    public func storeOffsets(
        _ offsets: [KafkaPartition: Int64], readUnder epochs: [KafkaPartition: UInt64] = [:]
    ) async throws(KafkaError) -> [KafkaPartition] {
        try await inbox.submit { .store(offsets, epochs: epochs, $0) }
    }

    /// Commits what was stored and waits for the broker's answer. Success when there is nothing to commit.
    /// - Throws: `transient` when the broker refused or the group is rebalancing, `closed`.
    public func commit() async throws(KafkaError) {
        try await inbox.submit { .commit($0) }
    }

    /// Stops fetching from these partitions, and again whenever they are assigned, until `resume`. What was already
    /// taken for a demand is still delivered. librdkafka throws prefetched records away and fetches them again.
    /// - Throws: `closed`, or what librdkafka refused.
    public func pause(_ partitions: [KafkaPartition]) async throws(KafkaError) {
        try await inbox.submit { .pause(partitions, $0) }
    }

    /// Takes `pause` back; partitions that are not paused are left alone.
    /// - Throws: `closed`, or what librdkafka refused.
    public func resume(_ partitions: [KafkaPartition]) async throws(KafkaError) {
        try await inbox.submit { .resume(partitions, $0) }
    }

    /// Stops fetching from whatever is assigned, now and later, until `resume()`. The member stays in its group and
    /// answers its rebalances. What was already taken for a demand is still delivered.
    /// - Throws: `closed`, or what librdkafka refused.
    public func pause() async throws(KafkaError) {
        try await inbox.submit { .pause(nil, $0) }
    }

    /// Takes `pause()` back; partitions that were paused by name stay so. librdkafka fetches again what it had ready,
    /// so that the first record may take a second.
    /// - Throws: `closed`, or what librdkafka refused.
    public func resume() async throws(KafkaError) {
        try await inbox.submit { .resume(nil, $0) }
    }

    /// What shows that the consumer works: numbers that grow for as long as it does, whether or not anybody asks it
    /// for anything, brokers answer, or records come.
    public var signsOfLife: KafkaConsumerSigns { pulse.signs }

    /// Commits what was stored, leaves the group and frees the client. A waiting `next` answers `nil`; revocations are
    /// not announced any more, so store the last offsets before. Returns when all is done or the deadline is over.
    ///
    /// While the group is being divided anew a member cannot leave, and would be missed only when its session ends; this
    /// then waits, until just before the deadline, for the group to be done.
    public func close(deadline: Duration) async {
        await BoundedWait.run(limit: deadline) { answer in
            inbox.submit(.close(deadline: .now + deadline) { _ in answer() })
        }
    }

    /// The owner thread, from beginning to end.
    private static func run(
        _ handle: KafkaHandle, _ inbox: ConsumerInbox, _ wake: EventDescriptor, _ pulse: ConsumerPulse,
        _ configuration: KafkaConsumerConfiguration, _ logger: Logger
    ) {
        let closing = drive(handle, inbox, wake, pulse, configuration, logger)
        let left = closing.map { $0.leavesGroup && rd_kafka_consumer_closed(handle.pointer) != 0 } ?? false
        let rest = closing.map { max($0.departure.deadline - .now, .zero) } ?? .zero
        let destroyed = (try? handle.destroy(leavingGroup: left, timeout: rest)) ?? false
        if !left || !destroyed {
            logger.warning(
                "Kafka consumer closed without finishing",
                metadata: ["leftGroup": "\(left)", "destroyed": "\(destroyed)"])
        }
        inbox.abandon()
        for reply in closing?.replies ?? [] { reply(.success(())) }
    }

    /// In a function of its own so that every queue is released when it returns, before the client is destroyed.
    private static func drive(
        _ handle: KafkaHandle, _ inbox: ConsumerInbox, _ wake: EventDescriptor, _ pulse: ConsumerPulse,
        _ configuration: KafkaConsumerConfiguration, _ logger: Logger
    ) -> ConsumerLoop.Closing? {
        do throws(KafkaError) {
            let loop = try ConsumerLoop(
                handle: handle, inbox: inbox, wake: wake, pulse: pulse, configuration: configuration, logger: logger)
            loop.run()
            loop.releaseQueues()
            return loop.closing
        } catch {
            inbox.conclude(.failure(error))
            return nil
        }
    }
}
