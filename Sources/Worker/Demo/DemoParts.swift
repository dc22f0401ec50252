import AppStore
import AppStoreSimulator
import Foundation
import Fulfillment
import Kafka
import Ledger
import Logging
import Purchases

/// Everything a demo runs on, started and connected.
struct DemoParts: Sendable {
    let cluster: KafkaMockCluster
    let simulator: AppStoreSimulator
    let ledger: SQLiteLedger
    let worker: AssembledWorker
    let producer: KafkaProducer
    let consumer: KafkaConsumer
    let topics: TopicNames

    static func start(in folder: URL, clock: SystemClock, logger: Logger) async throws -> DemoParts {
        let topics = TopicNames()
        let cluster = try KafkaMockCluster()
        try cluster.createTopic(topics.submitted, partitions: DemoRun.inputPartitions)
        for topic in topics.all.dropFirst() { try cluster.createTopic(topic, partitions: DemoRun.outputPartitions) }
        let authorityFile = folder.appending(path: "ca.pem")
        var configuration = AppStoreSimulator.Configuration()
        configuration.caFile = authorityFile
        configuration.acceptedSecrets = [DemoCatalogue.sharedSecret]
        let simulator = try AppStoreSimulator(
            authority: SimulatorAuthority(now: Date()), configuration: configuration,
            logger: logger.with(label: "simulator"), now: { clock.now() })
        let endpoints = try await simulator.start()
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.appending(path: "ledger.db").path, migrate: true), logger: logger)
        var apple = AppleSettings()
        apple.verifyReceiptProductionURL = endpoints.productionURL.absoluteString
        apple.verifyReceiptSandboxURL = endpoints.sandboxURL.absoluteString
        apple.caFile = endpoints.caFile.path
        var plan = WorkerPlan(
            kafka: WorkerPlan.Kafka(
                bootstrapServers: cluster.bootstrapServers, properties: Self.properties, topics: topics),
            apple: apple,
            apps: AppRegistry([
                RegisteredApp(app: DemoCatalogue.app, sharedSecrets: [SharedSecret(DemoCatalogue.sharedSecret)])
            ]))
        plan.pipeline.maxInFlight = 100
        let client = KafkaClientConfiguration(
            bootstrapServers: cluster.bootstrapServers, clientID: "grantor-demo", properties: Self.properties)
        return DemoParts(
            cluster: cluster, simulator: simulator, ledger: ledger,
            worker: try AssembledWorker(plan: plan, ledger: ledger, logger: logger),
            producer: try KafkaProducer(configuration: KafkaProducerConfiguration(client: client), logger: logger),
            consumer: try KafkaConsumer(
                configuration: KafkaConsumerConfiguration(
                    client: client, groupID: "grantor-demo", topics: Array(topics.all.dropFirst())),
                logger: logger),
            topics: topics)
    }

    /// Makes receipts that look right and that the simulator did not sign.
    func forger(now: Timestamp) throws -> ReceiptFactory {
        try ReceiptFactory(
            authority: SimulatorAuthority(now: Date(timeIntervalSince1970: Double(now.milliseconds) / 1000)))
    }

    /// The mock cluster's groups settle faster with a short session; an empty fetch waits its whole time there.
    private static let properties = ["session.timeout.ms": "6000", "fetch.wait.max.ms": "10"]
}
