import AppStoreSimulator
import Foundation
import PostgresTesting
import SystemTesting

/// Everything that a run plays on: PostgreSQL, a broker, the App Store, an inventory service and the workers, each a party of
/// its own.
struct ChaosStage: Sendable {
    /// What a stage is made of.
    struct Options: Sendable {
        var workers = 3
        /// Places for workers beyond those.
        var extraWorkers = 1
        var partitions = 24
        var latency = Latency.uniform(from: 50, through: 250)
        var seed: UInt64 = 1
        /// Variables of the workers, over those that every run needs.
        var environment: [String: String] = [:]
        /// librdkafka properties of the workers, over those of the broker.
        var properties: [String: String] = [:]
    }

    /// Of each output topic.
    static let outputPartitions = 12

    let folder: URL
    let programs: Programs
    let database: Database
    let broker: Broker
    let apple: AppStore
    let inventory: Inventory
    let fleet: Fleet
    let environment: [String: String]

    /// Starts everything but the workers.
    static func start(_ options: Options, in folder: URL) async throws -> ChaosStage {
        let programs = try Programs.beside()
        let places = options.workers + options.extraWorkers
        let database = try await Database.start(paths: places)
        let broker = try await Broker.start(
            programs, partitions: options.partitions, outputPartitions: outputPartitions, in: folder)
        let inventory = try await Inventory.start(seed: options.seed, in: folder)
        let apple = try await AppStore.start(
            latency: options.latency, workers: places, seed: options.seed, inventory: inventory, in: folder)
        let properties = Broker.properties.merging(options.properties) { $1 }.map { "\($0.key)=\($0.value)\n" }.sorted()
        let propertiesFile = folder.appending(path: "kafka.properties")
        try Data(properties.joined().utf8).write(to: propertiesFile)
        var environment = apple.environment
        environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = broker.bootstrapServers
        environment["GRANTOR_KAFKA_PROPERTIES_FILE"] = propertiesFile.path
        environment["GRANTOR_LEDGER_URL"] = database.url
        environment["GRANTOR_HTTP_BIND"] = "127.0.0.1:0"
        environment["GRANTOR_SHUTDOWN_TIMEOUT"] = Fleet.shutdownTimeout
        environment.merge(options.environment) { $1 }
        let common = environment
        let fleet = Fleet(programs.grantor, places: places, in: folder) { place in
            common.merging(["GRANTOR_LEDGER_URL": database.url(path: place)]) { $1 }
        }
        return ChaosStage(
            folder: folder, programs: programs, database: database, broker: broker, apple: apple, inventory: inventory,
            fleet: fleet, environment: environment)
    }

    /// Ends everything; workers first.
    func close() async throws {
        for place in 0..<database.proxies.count { await fleet.kill(place) }
        try await apple.close()
        try await inventory.close()
        try await database.close()
    }
}
