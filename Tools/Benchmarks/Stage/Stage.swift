import AppStoreSimulator
import Contract
import Foundation
import Glibc
import Kafka
import KafkaScanning
import KafkaTesting
import Logging
import PostgresTesting
import Scheduling

enum LedgerKind: String, CaseIterable {
    case postgres, sqlite
}

/// The workers' surroundings: a broker, a ledger, Apple's stand-in, files and settings. Each is made anew, and ends
/// with the stage.
final class Stage {
    static let app = BundleID("com.example.game")
    static let partitions = 12

    let folder: String
    let kafka: TestKafka
    let database: PostgresServer?
    let apple: StandIn
    let authority: SimulatorAuthority
    private let programs: Programs
    private let environment: [String: String]
    private(set) var workers: [ChildProgram] = []

    /// - Parameters:
    ///   - latency: Milliseconds of Apple's replies.
    ///   - calls: Most calls to Apple at once, of each worker.
    ///   - settings: Further variables of the workers.
    ///   - tokens: The tokens with which the workers' API may be asked, if any is set.
    init(
        _ programs: Programs, ledger: LedgerKind, latency: Int, calls: Int, settings: [String: String] = [:],
        tokens: [String] = []
    ) throws {
        self.programs = programs
        folder = try Self.makeFolder()
        apple = try StandIn(program: programs.simulator, folder: folder, latency: latency)
        authority = try SimulatorAuthority.kept(in: folder + "/authority", now: .thisSecond)
        guard TestKafka.isApache else { throw BenchFailure("KAFKA_HOME has to name a folder of Apache Kafka") }
        kafka = try TestKafka()
        for topic in Topic.allCases {
            // The time of a record is the broker's.
            try kafka.createTopic(
                topic.defaultName, partitions: Self.partitions,
                configuration: ["message.timestamp.type": "LogAppendTime"])
        }
        // As a production server: it syncs, and has the memory of PostgreSQL's defaults.
        let memory = ["fsync = on", "shared_buffers = 128MB"]
        database = ledger == .postgres ? try PostgresServer(settings: memory, isOnDisk: true) : nil
        let app = "  - {bundleId: \(Self.app), sandbox: {policy: reject}, products: any}\n"
        try "apps:\n\(app)".write(toFile: folder + "/apps.yaml", atomically: true, encoding: .utf8)
        var settings = settings
        if !tokens.isEmpty {
            settings["GRANTOR_API_TOKENS_FILE"] = folder + "/tokens"
            try tokens.joined(separator: "\n").write(toFile: folder + "/tokens", atomically: true, encoding: .utf8)
        }
        environment = [
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers, "GRANTOR_APPS_FILE": folder + "/apps.yaml",
            "GRANTOR_HTTP_BIND": "127.0.0.1:0",
            "GRANTOR_LEDGER_URL": try database?.createDatabase("grantor") ?? "sqlite:\(folder)/ledger.db",
            "GRANTOR_MAX_CALLS": "\(calls)",
            "GRANTOR_APPLE_ROOT_CERTIFICATES": try apple.address("rootsFile"),
            "GRANTOR_APPLE_CA_FILE": try apple.address("caFile"),
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": try apple.address("productionURL"),
            "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": try apple.address("sandboxURL"),
        ].merging(settings) { $1 }
        if database != nil {
            try ChildProgram([programs.worker, "migrate"], environment: environment, log: folder + "/migrate.log")
                .finish()
        }
    }

    private static func makeFolder() throws(BenchFailure) -> String {
        var template = Array("/tmp/grantor-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchFailure("no temporary folder: errno \(errno)") }
        return String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    @discardableResult
    func startWorker() throws -> ChildProgram {
        let worker = try ChildProgram(
            [programs.worker, "run"], environment: environment, log: "\(folder)/worker-\(workers.count).log")
        workers.append(worker)
        return worker
    }

    /// Starts a command of the worker's program, such as `audit`, with the workers' settings.
    func start(_ command: [String]) throws -> ChildProgram {
        try ChildProgram(
            [programs.worker] + command, environment: environment.merging(["TMPDIR": folder]) { $1 },
            log: "\(folder)/\(command[0]).log")
    }

    /// CPU time that each part has used by now.
    var cpuTimes: CPUTimes {
        .now(of: [
            .worker: workers.map(\.pid), .postgres: database?.pid.map { [$0] } ?? [], .broker: kafka.pids,
            .apple: apple.pid > 0 ? [apple.pid] : [],
        ])
    }

    var scan: KafkaScan {
        KafkaScan(configuration: kafka.client, group: "bench", logger: Self.logger)
    }

    static var logger: Logger { Logger(label: "bench", level: .error, handler: LineLogHandler(format: .text)) }

    /// Records of a topic so far, copies included.
    /// - Throws: ``BenchFailure`` if a worker has ended, too: nothing more is to be waited for.
    func count(of topic: Topic) throws -> Int {
        guard workers.allSatisfy({ $0.descriptors > 0 }) else {
            throw BenchFailure("a worker has ended; \(folder) has its log")
        }
        let admin = KafkaAdmin(configuration: kafka.client, logger: Self.logger)
        return Int(try admin.offsets(of: [topic.defaultName]).values.reduce(0) { $0 + $1.count })
    }

    /// Ends the workers in order, all at once.
    func stopWorkers() throws {
        for worker in workers { worker.signal(SIGTERM) }
        for worker in workers { try worker.finish() }
        workers = []
    }

    /// Ends everything in order, and removes its files.
    func end() throws {
        try stopWorkers()
        try apple.stop()
        kafka.stop()
        database?.stop()
        try FileManager.default.removeItem(atPath: folder)
    }
}

/// The programs that are measured, beside this one unless said otherwise.
struct Programs {
    let worker: String
    let simulator: String

    init(worker: String?) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = own.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        self.worker = worker ?? folder + "/grantor"
        simulator = folder + "/grantor-simulator"
        for program in [self.worker, simulator] where access(program, X_OK) != 0 {
            throw BenchFailure("there is no \(program): build it with -c release")
        }
    }
}

extension Timestamp {
    /// The host's wall clock, in whole seconds.
    static var thisSecond: Timestamp { Timestamp(milliseconds: WallClock.milliseconds / 1000 * 1000) }
}
