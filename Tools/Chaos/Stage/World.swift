import AppStoreSimulator
import Contract
import Glibc
import Kafka
import KafkaScanning
import KafkaTesting
import Logging
import PostgresTesting
import Scheduling
import Threading

/// Everything around the workers of a run: brokers of its own, Apple's stand-in, files and settings.
final class World {
    static let apps = ["com.example.game", "com.example.puzzle", "com.example.race"].map { BundleID($0) }
    static let partitions = 6

    /// The needs of a run besides one broker and a ledger.
    struct Needs {
        /// The ledger of a run that is about one kind alone; nil for the options'.
        var ledger: Options.Ledger?
        var brokers = 1
        /// Whether a standby follows the server of the ledger.
        var hasStandby = false
        /// Whether broker and ledger write on disks that can be full, where this process may make such.
        var hasSmallDisks = false
        /// Whether each worker reaches its ledger by a proxy.
        var workersWithProxies = 0
        /// The group must notice a killed worker before the next one is killed.
        var sessionTimeout = Duration.seconds(3)
        /// Topic properties, which have an effect on Apache Kafka only.
        var properties: [Topic: [String: String]] = [:]
    }

    let options: Options
    let folder = "/tmp/grantor-chaos-\(getpid())"
    let kafka: TestKafka
    /// The server of the ledger, if it is none of a file.
    let database: PostgresServer?
    let standby: PostgresServer?
    /// Of each worker.
    let proxies: [PostgresProxy]
    /// The database's and each broker's; none where they cannot be made.
    let disks: [SmallDisk]
    let authority: SimulatorAuthority
    let appleStandIn: AppleStandIn
    let logger = Logger(label: "chaos", level: .error, handler: LineLogHandler(format: .text))
    let environment: [String: String]
    var random: SplitMix64

    var apple: AppStoreSimulator { appleStandIn.simulator }

    init(_ options: Options, _ needs: Needs = Needs()) throws {
        self.options = options
        let folder = folder
        guard mkdir(folder, 0o755) == 0 else { throw ChaosFailure("cannot make \(folder)") }
        random = SplitMix64(seed: options.seed)
        authority = try SimulatorAuthority.kept(in: folder + "/authority", now: .thisSecond)
        appleStandIn = try AppleStandIn(authority: authority, folder: folder)
        disks =
            needs.hasSmallDisks && SmallDisk.canBeMade
            ? try (0...needs.brokers).map { try SmallDisk("\(folder)/disk-\($0)", megabytes: 256) } : []
        kafka =
            needs.brokers > 1
            ? try .cluster(brokers: needs.brokers, dataFolders: disks.dropFirst().map(\.folder)) : try TestKafka()
        if needs.ledger ?? options.ledger == .postgres {
            // Workers refuse a server that does not sync, as tests have it.
            let settings = ["fsync = on", "max_wal_size = 96MB"]
            let server = try PostgresServer(settings: settings, disk: disks.first?.folder, isOnDisk: true)
            standby = needs.hasStandby ? try PostgresServer(settings: settings, isOnDisk: true) : nil
            try standby?.follow(server)
            try server.createDatabase("grantor")
            proxies = try (0..<needs.workersWithProxies).map { _ in try PostgresProxy(server) }
            database = server
        } else {
            (database, standby, proxies) = (nil, nil, [])
        }
        say("broker: \(kafka.name), \(kafka.bootstrapServers); files: \(folder)")
        for topic in Topic.allCases {
            try kafka.createTopic(
                topic.defaultName, partitions: Self.partitions,
                configuration: Self.properties(of: topic, needs))
        }
        let apps = Self.apps.map { "  - {bundleId: \($0), sandbox: {policy: reject}, products: any}\n" }
        try writeText("apps:\n" + apps.joined(), to: folder + "/apps.yaml")
        let session = Int(needs.sessionTimeout / .milliseconds(1))
        try writeText(
            "session.timeout.ms=\(session)\nheartbeat.interval.ms=\(session / 6)\n", to: folder + "/kafka.properties")
        let endpoints = appleStandIn.endpoints
        environment = [
            "PATH": "/usr/bin:/bin", "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers,
            "GRANTOR_KAFKA_GROUP_ID": "grantor-\(random.next())",
            "GRANTOR_LEDGER_URL": Self.url(database, standby) ?? "sqlite:\(folder)/ledger.db",
            "GRANTOR_APPS_FILE": folder + "/apps.yaml", "GRANTOR_TOPIC_PENDING": Topic.pending.defaultName,
            "GRANTOR_KAFKA_PROPERTIES_FILE": folder + "/kafka.properties",
            "GRANTOR_APPLE_ROOT_CERTIFICATES": endpoints.rootsFile, "GRANTOR_APPLE_CA_FILE": endpoints.caFile,
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": endpoints.productionURL,
            "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": endpoints.sandboxURL,
            "GRANTOR_SERVER_API_PRODUCTION_URL": endpoints.serverAPIProductionURL,
            "GRANTOR_SERVER_API_SANDBOX_URL": endpoints.serverAPISandboxURL, "GRANTOR_HTTP_BIND": "127.0.0.1:0",
        ]
        guard database != nil else { return }
        guard try command(["migrate"]) == 0 else { throw ChaosFailure("no ledger can be made") }
    }

    /// The ledger's URL, with all servers that may take writes at some time.
    private static func url(_ database: PostgresServer?, _ standby: PostgresServer?) -> String? {
        guard let database else { return nil }
        guard let standby else { return database.url(database: "grantor") }
        let servers = [database, standby]
        let (hosts, ports) = (servers.map(\.folder), servers.map { String($0.port) })
        return "postgres://postgres@/grantor?host=\(hosts.joined(separator: ","))"
            + "&port=\(ports.joined(separator: ","))&target_session_attrs=read-write"
    }

    /// A topic's properties. The time of an event is the brokers'.
    static func properties(of topic: Topic, _ needs: Needs = Needs()) -> [String: String] {
        let times = topic == .granted ? ["message.timestamp.type": "LogAppendTime"] : [:]
        return times.merging(needs.properties[topic] ?? [:]) { $1 }
    }

    /// The ledger's file, or its URL.
    var ledger: String { database?.url(database: "grantor") ?? folder + "/ledger.db" }

    var group: String { environment["GRANTOR_KAFKA_GROUP_ID"] ?? "" }

    var scan: KafkaScan { KafkaScan(configuration: kafka.client, group: "chaos", logger: logger) }

    /// A worker's environment. Its ledger's URL leads through its proxy, if it has one.
    func environment(of number: Int) -> [String: String] {
        guard proxies.indices.contains(number) else { return environment }
        let url = "postgres://postgres@/grantor?host=\(proxies[number].folder)"
        return environment.merging(["GRANTOR_LEDGER_URL": url]) { $1 }
    }

    /// Starts a worker whose log is in a file of its number.
    func start(_ number: Int = 0, adding variables: [String: String] = [:]) throws -> ChildWorker {
        try ChildWorker(
            program: options.program, environment: environment(of: number).merging(variables) { $1 },
            log: folder + "/worker-\(number).log")
    }

    /// Runs another command to its end.
    func command(_ words: [String]) throws -> Int32? {
        let child = try ChildWorker(
            program: options.program, words: words, environment: environment, log: folder + "/command.log")
        return child.end(by: 0)
    }

    /// Runs another command to its end, and returns its output; nil if it fails.
    func output(of words: [String]) throws -> String? {
        let file = folder + "/command.out"
        let child = try ChildWorker(
            program: "/bin/sh",
            words: ["-c", #"out=$1; shift; exec "$@" >"$out""#, "sh", file, options.program] + words,
            environment: environment, log: folder + "/command.log")
        return child.end(by: 0) == 0 ? readText(file) : nil
    }

    /// Ends the servers.
    func close() {
        for proxy in proxies { proxy.stop() }
        kafka.stop()
        standby?.stop()
        database?.stop()
        for disk in disks { disk.remove() }
    }

    func log(_ number: Int = 0) -> String { readText(folder + "/worker-\(number).log") ?? "" }
}

extension Timestamp {
    /// The host's wall clock, in whole seconds.
    static var thisSecond: Timestamp { Timestamp(milliseconds: Int64(time(nil)) * 1000) }
}
