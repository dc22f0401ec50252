import AppStore
import Fulfillment
import Kafka
import Purchases

/// Everything a worker is made of, as values: what configuration says, or what the demo chooses.
struct WorkerPlan: Sendable {
    struct Kafka: Sendable {
        var bootstrapServers: String
        var groupID = "grantor"
        /// A name for static membership.
        var groupInstanceID: String?
        /// Nil for what the properties say.
        var assignmentStrategy: KafkaConsumerConfiguration.Assignor?
        /// librdkafka properties for consumer and producer; values may be secret.
        var properties: [String: String] = [:]
        var topics = TopicNames()
    }

    var kafka: Kafka
    var apple = AppleSettings()
    /// What signed data must chain to.
    var roots: TrustedRoots
    var apps: AppRegistry
    var pipeline = PipelineConfiguration()

    init(kafka: Kafka, apple: AppleSettings, roots: TrustedRoots, apps: AppRegistry) {
        self.kafka = kafka
        self.apple = apple
        self.roots = roots
        self.apps = apps
    }

    /// What a configuration says, for a command that runs a worker.
    init(_ configuration: WorkerConfiguration) throws(ConfigurationError) {
        kafka = Kafka(
            bootstrapServers: try configuration.kafka.requiredBootstrapServers(),
            groupID: configuration.kafka.groupID, groupInstanceID: configuration.kafka.groupInstanceID,
            assignmentStrategy: configuration.kafka.assignmentStrategy,
            properties: configuration.kafka.revealedProperties, topics: configuration.kafka.topics)
        apple = configuration.apple
        roots = try configuration.apple.trustedRoots()
        apps = AppRegistry(try AppsFile.load(try configuration.requiredAppsFile()))
        pipeline = PipelineConfiguration(
            maxInFlight: configuration.verification.maxInFlight,
            maxWindowBytes: configuration.verification.maxWindowBytes,
            retry: RetryPolicy(
                doubtWindow: configuration.verification.notFoundWindow,
                maxAge: configuration.verification.maxSubmissionAge),
            stopLimit: configuration.verification.shutdownTimeout)
    }
}

extension AppRegistry {
    /// The configured apps with their secrets.
    init(_ apps: [ConfiguredApp]) {
        self.init(
            apps.map { configured in
                RegisteredApp(
                    app: configured.app,
                    sharedSecrets: configured.sharedSecrets.map { SharedSecret($0.revealed()) },
                    serverAPI: configured.serverAPI, serverAPIShare: configured.serverAPIShare,
                    receipts: configured.receipts,
                    confirmsOlderThan: configured.confirmSignedTransactionsOlderThan, inventory: configured.inventory)
            })
    }
}

extension TopicNames {
    /// The topics that events go to.
    var outputs: OutputTopics { OutputTopics(granted: granted, failed: failed, quarantined: quarantined) }

    /// All four, the input topic first.
    var all: [String] { [submitted, granted, failed, quarantined] }
}
