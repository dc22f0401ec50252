import AppStore
import AppStoreSimulator
import Audit
import Foundation
import Fulfillment
import Kafka
import Ledger
import Logging
import Purchases

/// Everything a demo runs on, started and connected.
struct DemoParts: Sendable {
    let cluster: KafkaMockCluster
    let authority: SimulatorAuthority
    let simulator: AppStoreSimulator
    let ledger: SQLiteLedger
    let worker: AssembledWorker
    let producer: KafkaProducer
    let consumer: KafkaConsumer
    let topics: TopicNames
    let audit: Audit

    static func start(in folder: URL, clock: SystemClock, logger: Logger) async throws -> DemoParts {
        let topics = TopicNames()
        let cluster = try KafkaMockCluster()
        try cluster.createTopic(topics.submitted, partitions: DemoRun.inputPartitions)
        for topic in topics.all.dropFirst() { try cluster.createTopic(topic, partitions: DemoRun.outputPartitions) }
        let authorityFile = folder.appending(path: "ca.pem")
        var configuration = AppStoreSimulator.Configuration()
        configuration.caFile = authorityFile
        configuration.acceptedSecrets = [DemoCatalogue.sharedSecret]
        configuration.rootsFile = folder.appending(path: "roots.pem")
        let authority = try SimulatorAuthority(now: Date())
        let simulator = try AppStoreSimulator(
            authority: authority, configuration: configuration, logger: logger.with(label: "simulator"),
            now: { clock.now() })
        let key = ServerAPIKey()
        try simulator.accept(key)
        let endpoints = try await simulator.start()
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.appending(path: "ledger.db").path, migrate: true), logger: logger)
        var apple = AppleSettings()
        apple.verifyReceiptProductionURL = endpoints.productionURL.absoluteString
        apple.verifyReceiptSandboxURL = endpoints.sandboxURL.absoluteString
        apple.serverAPIProductionURL = endpoints.serverAPIProductionURL.absoluteString
        apple.serverAPISandboxURL = endpoints.serverAPISandboxURL.absoluteString
        apple.caFile = endpoints.caFile.path
        apple.rootCertificatesFile = endpoints.rootsFile.path
        var plan = WorkerPlan(
            kafka: WorkerPlan.Kafka(
                bootstrapServers: cluster.bootstrapServers, properties: Self.properties, topics: topics),
            apple: apple, roots: try apple.trustedRoots(),
            apps: try apps(key))
        plan.pipeline.maxInFlight = 100
        let client = KafkaClientConfiguration(
            bootstrapServers: cluster.bootstrapServers, clientID: "grantor-demo", properties: Self.properties)
        return DemoParts(
            cluster: cluster, authority: authority, simulator: simulator, ledger: ledger,
            worker: try AssembledWorker(plan: plan, ledger: ledger, logger: logger),
            producer: try KafkaProducer(configuration: KafkaProducerConfiguration(client: client), logger: logger),
            consumer: try KafkaConsumer(
                configuration: KafkaConsumerConfiguration(
                    client: client, groupID: "grantor-demo", topics: Array(topics.all.dropFirst())),
                logger: logger),
            topics: topics,
            audit: Audit(
                ledger: ledger,
                topics: KafkaTopics(client: client, group: plan.kafka.groupID, names: topics.audited, logger: logger),
                names: topics.audited))
    }

    /// The same catalogue for each way to verify.
    private static func apps(_ key: ServerAPIKey) throws -> AppRegistry {
        let credentials = try ServerAPICredentials(
            issuerID: key.issuerID, keyID: key.keyID, privateKeyPEM: key.privateKeyPEM)
        return AppRegistry([
            RegisteredApp(
                app: DemoCatalogue.app, sharedSecrets: [SharedSecret(DemoCatalogue.sharedSecret)],
                serverAPI: credentials),
            RegisteredApp(app: DemoCatalogue.app(DemoCatalogue.localApp), sharedSecrets: [], receipts: .local),
            RegisteredApp(
                app: DemoCatalogue.app(DemoCatalogue.lookingUpApp), sharedSecrets: [], serverAPI: credentials,
                receipts: .serverAPI, confirmsOlderThan: .seconds(86_400)),
        ])
    }

    /// The mock cluster's groups settle faster with a short session; an empty fetch waits its whole time there.
    private static let properties = ["session.timeout.ms": "6000", "fetch.wait.max.ms": "10"]
}
