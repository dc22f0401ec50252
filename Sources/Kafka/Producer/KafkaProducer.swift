internal import CLibrdkafka
public import Logging
public import Metrics
public import Scheduling
public import Threading

/// An idempotent producer. An acknowledged record is on all in-sync replicas, once and in order per partition.
///
/// It is confined to its owner's thread, which offers records and takes delivery reports. Neither blocks. librdkafka
/// signals the owner's descriptor when there are reports. After a fatal error the client is replaced. Every record of
/// the old client gets its report.
///
/// The owner calls ``close(until:into:)`` last. Without that call the client and its threads remain.
public final class KafkaProducer {
    /// Most bytes of a batch before it is compressed, unless the operator says otherwise. A record with more of them goes
    /// alone. A topic whose `max.message.bytes` is less refuses batches of records that it would take one by one.
    public static let batchBytes = 256 << 10
    /// Events in one ``drainReports(into:)``, each of which may carry thousands of reports.
    private static let eventsPerDrain = 1000
    /// Time for a client in fatal state to report its records. After it the rest is reported for it.
    private static let retirementLimit = Duration.seconds(5)
    /// Clients that may be replaced within a minute. Beyond it records are refused, because the fault is permanent.
    static let recreationsPerMinute = 5

    private let properties: ClientProperties
    private let topics: [String]
    private let wake: WakeDescriptor
    private let metrics: ProducerMetrics
    private let logger: Logger
    private var log: ClientLog
    private var budget = RecreationBudget(limit: recreationsPerMinute)
    /// The clock that the budget's minute is counted by.
    var clock: () -> Instant = { .now }
    private(set) var client: ProducerClient?
    /// A client in fatal state that owes reports, and until when it may.
    private var retired: [(client: ProducerClient, until: Instant)] = []
    private var hasFailed = false

    /// Returns at once; brokers are reached when there is something to ask or to send.
    /// - Parameters:
    ///   - topics: the topics whose metadata is requested at once. So the first record of each does not wait for it (up
    ///     to a second in librdkafka before 2.10.1).
    ///   - remedies: the steps that a person takes after errors that no retry mends, by their names.
    ///   - wake: signalled when there are delivery reports.
    /// - Throws: a configuration error that names the property, or `resourcesExhausted`.
    public init(
        configuration: KafkaClientConfiguration, topics: [String] = [], remedies: [String: String] = [:],
        wake: WakeDescriptor, metrics: PrometheusRegistry = .shared, logger: Logger
    ) throws(KafkaError) {
        properties = try .producer(configuration)
        self.topics = topics
        self.wake = wake
        self.metrics = ProducerMetrics(metrics)
        self.logger = logger
        log = ClientLog(logger: logger, tellsOutages: false, remedies: remedies, hiding: properties.secrets)
        client = try ProducerClient(properties: properties, topics: topics, wake: wake)
    }

    /// Makes a client with exactly the properties of a producer, and throws it away. A producer accepts the properties
    /// that this accepts. Throws as the initialiser does.
    public static func check(_ configuration: KafkaClientConfiguration) throws(KafkaError) {
        try ClientProperties.producer(configuration).check(RD_KAFKA_PRODUCER)
    }

    /// Records that were accepted and not reported on.
    public var outstanding: Int { retired.reduce(client?.outstanding ?? 0) { $0 + $1.client.outstanding } }

    /// Whether no broker can be reached, as far as the client knows.
    public var isAway: Bool { log.isAway }

    /// Whether a client with unreported records is being replaced. The owner then calls ``drainReports(into:)`` at
    /// least once a second, even if the descriptor was not signalled.
    public var isReplacing: Bool { !retired.isEmpty || client == nil }

    /// Hands a record to librdkafka, which copies it. Never blocks.
    /// - Parameter token: comes back with the delivery report; any number.
    public func produce(_ record: KafkaProducerRecord, token: UInt64) -> KafkaAcceptance {
        if hasFailed { replaceClient(at: .now) }
        guard let client else { return .refused(.clientReplaced) }
        let acceptance = client.produce(record, token: token)
        guard case .refused(var refusal) = acceptance else { return acceptance }
        // A client in fatal state refuses every record with the error that it met.
        if client.handle.fatalError != nil {
            hasFailed = true
            refusal = .clientReplaced
        }
        metrics.count(refusal)
        return .refused(refusal)
    }

    /// Takes the delivery reports that have come. Never blocks.
    /// - Parameter reports: receives them behind its former content.
    public func drainReports(into reports: inout [KafkaDeliveryReport]) {
        if let client, !drain(client, into: &reports) { wake.signal() }
        for (client, until) in retired {
            _ = drain(client, into: &reports)
            if client.outstanding == 0 || until <= .now { discard(client, into: &reports) }
        }
        retired.removeAll { $0.client.outstanding == 0 }
        if hasFailed || client == nil { replaceClient(at: .now) }
        metrics.outstanding.set(outstanding)
    }

    /// Waits for the reports of accepted records, fails the rest shortly before the deadline, and frees the client.
    /// Blocks. Records are refused from now on.
    /// - Parameter reports: receives a report for every record that had none.
    public func close(until deadline: Instant, into reports: inout [KafkaDeliveryReport]) {
        // Also where the budget leaves no client: the records of retired clients have their reports all the same.
        for (retired, _) in retired { discard(retired, into: &reports) }
        retired = []
        budget = RecreationBudget(limit: 0)
        defer { metrics.outstanding.set(0) }
        guard let client else { return }
        let reserve = min((deadline - .now) / 5, .seconds(1))
        wait(for: client, until: deadline - reserve, into: &reports)
        if client.outstanding > 0 {
            client.purge()
            wait(for: client, until: deadline - reserve / 2, into: &reports)
        }
        self.client = nil
        for token in client.release() { reports.append(.init(token: token, result: .failed(.closed))) }
        if !client.handle.destroy(until: max(deadline, .now + .milliseconds(100))) {
            logger.warning("The Kafka producer's client was left behind: it is not freed in time")
        }
    }

    private func wait(for client: ProducerClient, until deadline: Instant, into reports: inout [KafkaDeliveryReport]) {
        while client.outstanding > 0, Instant.now < deadline {
            let rest = min(deadline - .now, .milliseconds(100))
            guard let event = client.nextEvent(milliseconds: rest.wholeMilliseconds) else { continue }
            serve(event, of: client, into: &reports)
        }
    }

    /// - Returns: whether everything was taken.
    private func drain(_ client: ProducerClient, into reports: inout [KafkaDeliveryReport]) -> Bool {
        for _ in 0..<Self.eventsPerDrain {
            guard let event = client.nextEvent() else { return true }
            serve(event, of: client, into: &reports)
        }
        return false
    }

    private func serve(
        _ event: borrowing ClientEvent, of client: ProducerClient, into reports: inout [KafkaDeliveryReport]
    ) {
        switch event.content {
        case .deliveries:
            event.forEachDelivery { message in
                guard var report = client.report(message) else { return }
                switch report.result {
                case .acknowledged: if log.isAway { log.connected(at: .now) }
                case .failed(var refusal):
                    if client.handle.fatalError != nil { refusal = .clientReplaced }
                    report.result = .failed(refusal)
                    metrics.count(refusal)
                }
                reports.append(report)
            }
        case .log(let level, let facility, let text): log.write(level: level, facility: facility, text: text)
        case .error(let code, let text, let isFatal):
            let failure = client.handle.fatalError?.failure ?? KafkaFailure(code, text: text)
            metrics.count(error: failure)
            log.write(isFatal ? failure : KafkaFailure(code, text: text), at: .now)
            if isFatal, client === self.client { hasFailed = true }
        default: break
        }
    }

    /// A producer in fatal state accepts nothing any more. Its unreported records may or may not be on the topic.
    private func replaceClient(at now: Instant) {
        if let failed = client {
            failed.purge()
            retired.append((failed, now + Self.retirementLimit))
            client = nil
            let error = failed.handle.fatalError?.description ?? ""
            logger.error(
                "The Kafka producer cannot go on and is replaced",
                metadata: ["records": .number(failed.outstanding), "error": "\(error)"])
        }
        hasFailed = false
        guard budget.take(now: clock()) else { return }
        do throws(KafkaError) {
            client = try ProducerClient(properties: properties, topics: topics, wake: wake)
            metrics.recreations.increment()
        } catch {
            logger.error("The Kafka producer cannot be made anew", metadata: ["error": "\(error)"])
        }
    }

    /// Reports the records that a retired client has not reported, and frees it on a thread of its own, since that may
    /// take seconds.
    private func discard(_ client: ProducerClient, into reports: inout [KafkaDeliveryReport]) {
        for token in client.release() { reports.append(.init(token: token, result: .failed(.clientReplaced))) }
        let handle = client.handle
        do throws(ThreadingError) {
            _ = try OwnerThread(name: "kafka-teardown") { handle.destroy() }
        } catch {
            logger.warning("A Kafka client in fatal state is left behind", metadata: ["error": "\(error)"])
        }
    }
}
