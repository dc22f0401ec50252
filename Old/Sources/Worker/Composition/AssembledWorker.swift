import Foundation
import Fulfillment
import HTTPTransport
import Kafka
import Ledger
import Logging
import Purchases

/// A worker put together from real parts, and taken apart in the right order.
struct AssembledWorker: Sendable {
    let pipeline: Pipeline
    private let producer: KafkaProducer
    private let transport: HTTPTransport
    private let inventory: InventoryTransports

    /// Connects the parts. The consumer joins its group at once; nothing is read before ``run()``.
    ///
    /// - Throws: `HTTPTransportError` or `KafkaError` for settings that a library refuses.
    init(plan: WorkerPlan, ledger: any PipelineLedger & DeliveryRoom, logger: Logger) throws {
        transport = try HTTPTransport(
            configuration: plan.apple.transport(maxConnections: plan.pipeline.maxInFlight),
            logger: logger.with(label: "http"))
        inventory = try InventoryTransports(plan.apps, logger: logger)
        producer = try KafkaProducer(
            configuration: plan.kafka.producer, logger: logger.with(label: "kafka-producer"))
        let consumer = try KafkaConsumer(
            configuration: plan.kafka.consumer, logger: logger.with(label: "kafka-consumer"))
        pipeline = Pipeline(
            source: KafkaSubmissionSource(consumer),
            sink: KafkaEventSink(producer, topics: plan.kafka.topics.outputs, logger: logger),
            ledger: ledger,
            appStore: plan.apple.endpoint(transport), worker: Self.name(), apps: plan.apps,
            signatures: SignatureVerifiers(roots: plan.roots), clock: SystemClock(), randomness: SystemRandomness(),
            inventory: InventoryAccess(room: ledger, endpoint: inventory.endpoint), configuration: plan.pipeline,
            logger: logger)
    }

    /// Runs until ``stop()``, or until something fails that waiting does not mend.
    func run() async throws {
        do {
            try await pipeline.run()
        } catch {
            await takeApart()
            throw error
        }
        await takeApart()
    }

    /// Asks the worker to end in order.
    func stop() {
        pipeline.stop()
    }

    /// The host's name, for people who look at the ledger, and enough chance that no other process ever has the same.
    private static func name() -> WorkerID {
        let host = ProcessInfo.processInfo.hostName.prefix(40)
        return WorkerID("\(host)-\(String(SystemRandomness().next(), radix: 16))")
    }

    private func takeApart() async {
        await producer.close(deadline: .seconds(5))
        await transport.shutdown()
        await inventory.shutdown()
    }
}

extension Logger {
    /// The same destination and level under another label.
    func with(label: String) -> Logger {
        var logger = Logger(label: label)
        logger.logLevel = logLevel
        return logger
    }
}
