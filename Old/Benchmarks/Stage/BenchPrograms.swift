import AppStoreSimulator
import Foundation

/// The programs that a run starts, each as a process of its own.
struct BenchPrograms: Sendable {
    static let bundleID = "com.example.game"
    static let outputPartitions = 8
    /// Of every client: the mock broker answers a fetch that finds nothing only when its wait is over.
    static let properties = ["session.timeout.ms": "6000", "fetch.wait.max.ms": "5"]

    /// Folder with the release build's executables.
    let folder: URL
    /// The folder of another build, whose worker it is.
    var workerFolder: URL?
    /// The processor cores that the worker may use, and those of everybody else; nil for all.
    var workerCores: String?
    var otherCores: String?

    init(folder: URL, _ scenario: BenchCase? = nil) {
        self.folder = folder
        workerCores = scenario?.cores
        otherCores = scenario?.otherCores
    }

    /// Prints where it is reached.
    func broker(partitions: Int, in run: URL) throws -> BenchProcess {
        try BenchProcess(
            folder.appending(path: "kafka-mock-broker"),
            ["--brokers", "1", "--topic", "receipts.submitted:\(partitions)"]
                + ["purchases.granted", "purchases.failed", "receipts.quarantined"].flatMap {
                    ["--topic", "\($0):\(Self.outputPartitions)"]
                }, cores: otherCores, in: run, name: "broker")
    }

    /// Prints the port that it answers for Apple on.
    func standIn(authority: URL, latencyMilliseconds: Int, in run: URL) throws -> BenchProcess {
        try BenchProcess(
            folder.appending(path: "grantor-bench"),
            [
                "stand-in", "--authority", authority.path, "--latency", String(latencyMilliseconds), "--bundle-id",
                Self.bundleID,
            ], cores: otherCores, in: run, name: "stand-in")
    }

    /// What a worker is told about where everything is.
    struct Surroundings {
        let bootstrap: String
        let verifyReceipt: (production: String, sandbox: String)
        let caFile: URL
        let rootsFile: URL
        let ledger: String
        var inFlight = 1000
        var httpPort = 0
        /// librdkafka's, in the place of ``BenchPrograms/properties``.
        var properties = BenchPrograms.properties
    }

    /// The worker's build.
    private var grantor: URL { (workerFolder ?? folder).appending(path: "grantor") }

    /// Makes a ledger's tables as the worker's build knows them.
    func migrate(_ ledger: String, in run: URL) async throws {
        let process = try BenchProcess(
            grantor, ["migrate"], environment: ["GRANTOR_LEDGER_URL": ledger], in: run, name: "migrate")
        _ = try await process.output(within: .seconds(60))
    }

    func worker(_ surroundings: Surroundings, in run: URL) throws -> BenchProcess {
        let apps = run.appending(path: "apps.yaml")
        try Data("apps:\n  - bundleId: \(Self.bundleID)\n".utf8).write(to: apps)
        let properties = run.appending(path: "kafka.properties")
        let lines = surroundings.properties.map { "\($0.key)=\($0.value)\n" }.joined()
        try Data(lines.utf8).write(to: properties)
        return try BenchProcess(
            grantor, ["run"],
            environment: [
                "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": surroundings.bootstrap,
                "GRANTOR_KAFKA_PROPERTIES_FILE": properties.path, "GRANTOR_APPS_FILE": apps.path,
                "GRANTOR_LEDGER_URL": surroundings.ledger,
                "GRANTOR_MAX_IN_FLIGHT": String(surroundings.inFlight),
                "GRANTOR_HTTP_BIND": "127.0.0.1:\(surroundings.httpPort)",
                "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": surroundings.verifyReceipt.production,
                "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": surroundings.verifyReceipt.sandbox,
                "GRANTOR_APPLE_CA_FILE": surroundings.caFile.path,
                "GRANTOR_APPLE_ROOT_CERTIFICATES": surroundings.rootsFile.path, "GRANTOR_LOG_LEVEL": "warning",
            ], cores: workerCores, in: run, name: "worker")
    }

    /// Measures libcurl alone, and returns when it has.
    func bareCalls(_ arguments: [String], in run: URL) async throws -> BareCost {
        let process = try BenchProcess(
            folder.appending(path: "grantor-bench"), ["bare-calls"] + arguments, cores: workerCores, in: run,
            name: "bare-calls-\(UUID().uuidString)")
        let text = try await process.output(within: .seconds(300))
        return try JSONDecoder().decode(BareCost.self, from: Data(text.utf8))
    }
}
