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

/// Everything around the workers of a run: a broker of its own, Apple's stand-in, files and settings.
final class World {
    static let apps = ["com.example.game", "com.example.puzzle", "com.example.race"].map { BundleID($0) }
    static let partitions = 6

    let options: Options
    let folder = "/tmp/grantor-chaos-\(getpid())"
    let kafka: TestKafka
    /// The server of the ledger, if it is none of a file.
    let database: PostgresServer?
    let authority: SimulatorAuthority
    let apple: AppStoreSimulator
    let logger = Logger(label: "chaos", level: .error, handler: LineLogHandler(format: .text))
    private(set) var environment: [String: String] = [:]
    var random: SplitMix64
    private let port: Int

    /// - Parameter properties: topic properties, which have an effect on Apache Kafka only.
    init(_ options: Options, properties: [Topic: [String: String]] = [:]) throws {
        self.options = options
        guard mkdir(folder, 0o700) == 0 else { throw ChaosFailure("cannot make \(folder)") }
        random = SplitMix64(seed: options.seed)
        authority = try SimulatorAuthority.kept(in: folder + "/authority", now: .thisSecond)
        var configuration = SimulatorConfiguration()
        configuration.caFile = folder + "/apple-ca.pem"
        configuration.rootsFile = folder + "/apple-roots.pem"
        apple = try AppStoreSimulator(authority: authority, configuration: configuration, now: { .thisSecond })
        let endpoints = try apple.start()
        port = Int(endpoints.serverAPIProductionURL.split(separator: ":").last ?? "") ?? 0
        kafka = try TestKafka()
        // Workers refuse a server that does not sync, as tests have it.
        database = options.ledger == .postgres ? try PostgresServer(settings: ["fsync = on"]) : nil
        say("broker: \(kafka.name), \(kafka.bootstrapServers); files: \(folder)")
        // The broker's clock tells when an event came.
        for topic in Topic.allCases {
            var wanted = properties[topic] ?? [:]
            if topic == .granted { wanted["message.timestamp.type"] = "LogAppendTime" }
            try kafka.createTopic(topic.defaultName, partitions: Self.partitions, configuration: wanted)
        }
        try writeApps()
        // The group must notice a killed worker before the next one is killed.
        try writeText("session.timeout.ms=3000\nheartbeat.interval.ms=500\n", to: folder + "/kafka.properties")
        environment = [
            "PATH": "/usr/bin:/bin", "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers,
            "GRANTOR_KAFKA_GROUP_ID": "grantor-\(random.next())",
            "GRANTOR_LEDGER_URL": database == nil ? "sqlite:\(ledger)" : ledger,
            "GRANTOR_APPS_FILE": folder + "/apps.yaml",
            "GRANTOR_KAFKA_PROPERTIES_FILE": folder + "/kafka.properties",
            "GRANTOR_APPLE_ROOT_CERTIFICATES": endpoints.rootsFile, "GRANTOR_APPLE_CA_FILE": endpoints.caFile,
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": endpoints.productionURL,
            "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": endpoints.sandboxURL,
            "GRANTOR_SERVER_API_PRODUCTION_URL": endpoints.serverAPIProductionURL,
            "GRANTOR_SERVER_API_SANDBOX_URL": endpoints.serverAPISandboxURL,
        ]
        if let database {
            try database.createDatabase("grantor")
            guard try command(["migrate"]) == 0 else { throw ChaosFailure("no ledger can be made") }
        }
    }

    /// The ledger's file, or its URL.
    var ledger: String { database?.url(database: "grantor") ?? folder + "/ledger.db" }

    /// Ends every worker's sessions with the database, whatever they are about.
    func cutSessions() throws {
        try database?.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'grantor'")
    }

    var scan: KafkaScan { KafkaScan(configuration: kafka.client, group: "chaos", logger: logger) }

    /// Starts a worker whose log is in a file of its number.
    func start(_ number: Int = 0) throws -> ChildWorker {
        var environment = environment
        environment["GRANTOR_HTTP_BIND"] = "127.0.0.1:0"
        return try ChildWorker(
            program: options.program, environment: environment, log: folder + "/worker-\(number).log")
    }

    /// Runs another command to its end.
    func command(_ words: [String]) throws -> Int32? {
        let child = try ChildWorker(
            program: options.program, words: words, environment: environment, log: folder + "/command.log")
        return child.end(by: 0)
    }

    /// Runs another command to its end, and returns what it says; nil if it fails.
    func output(of words: [String]) throws -> String? {
        let file = folder + "/command.out"
        let child = try ChildWorker(
            program: "/bin/sh",
            words: ["-c", #"out=$1; shift; exec "$@" >"$out""#, "sh", file, options.program] + words,
            environment: environment, log: folder + "/command.log")
        return child.end(by: 0) == 0 ? readText(file) : nil
    }

    func log(_ number: Int = 0) -> String { readText(folder + "/worker-\(number).log") ?? "" }

    // MARK: Apple

    private var silence: Int32 = -1

    /// Apple is away from now on.
    func takeAppleAway() throws {
        apple.stop()
        guard options.away == .silent else { return }
        // Workers that are started meanwhile must not inherit it: they would listen in Apple's place for ever.
        silence = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(silence, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(silence, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(silence, 64) == 0 else { throw ChaosFailure("cannot listen in Apple's place") }
    }

    /// Apple is back, with a latency.
    func bringAppleBack(milliseconds: Int) throws {
        if silence >= 0 { close(silence) }
        silence = -1
        apple.behave(Behaviour(latency: .fixed(milliseconds: milliseconds)))
        _ = try apple.start()
    }

    private func writeApps() throws {
        let apps = Self.apps.map { "  - {bundleId: \($0), sandbox: {policy: reject}, products: any}\n" }
        try writeText("apps:\n" + apps.joined(), to: folder + "/apps.yaml")
    }
}

extension Timestamp {
    /// The host's wall clock, in whole seconds.
    static var thisSecond: Timestamp { Timestamp(milliseconds: Int64(time(nil)) * 1000) }
}

func writeText(_ text: String, to path: String) throws(ChaosFailure) {
    guard let file = fopen(path, "w") else { throw ChaosFailure("cannot write \(path)") }
    fputs(text, file)
    fclose(file)
}

/// A file's text; nil if it cannot be opened.
func readText(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = fread(&part, 1, part.count, file)
        guard count > 0 else { return String(decoding: text, as: UTF8.self) }
        text += part.prefix(count)
    }
}

/// Looks again and again until something has come, or the time for it is over.
/// - Returns: whether it has come.
@discardableResult
func look(every milliseconds: Int, for limit: Duration, until isOver: () throws -> Bool) rethrows -> Bool {
    let deadline = Instant.now + limit
    while try !isOver() {
        guard Instant.now < deadline else { return false }
        rest(milliseconds: milliseconds)
    }
    return true
}

func rest(milliseconds: Int) {
    var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    nanosleep(&time, nil)
}

func seconds(since start: Instant) -> Int { Int((Instant.now - start).components.seconds) }
