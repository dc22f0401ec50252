import AppStoreSimulator
import Glibc

/// `grantor run` as a program, with the files that it needs in the demo's folder.
final class Worker {
    /// Longest wait for a worker that was told to stop.
    private static let stopLimit = Duration.seconds(25)
    /// Longest time for a ledger to be made.
    private static let migrateLimit = Duration.seconds(120)

    let ledgerURL: String
    let logFile: String
    private let program: String
    private let environment: [String: String]
    private var running: ChildProgram?

    /// Writes the files and creates the ledger; nothing runs yet.
    ///
    /// - Parameters:
    ///   - path: the program `grantor`.
    ///   - key: a key that the simulator accepts.
    ///   - ledgerURL: an empty database; nil for a file in the folder.
    init(
        program path: String, folder: String, bootstrapServers: String, apple: AppStoreSimulator.Endpoints,
        key: ServerAPIKey, ledgerURL: String?
    ) throws {
        program = path
        self.ledgerURL = ledgerURL ?? "sqlite:\(folder)/ledger.db"
        logFile = folder + "/worker.log"
        let keyFile = folder + "/key.p8"
        try key.save(to: keyFile)
        try Self.write(Catalogue.sharedSecret, to: folder + "/shared-secret")
        try Self.write(
            Catalogue.yaml(key: key, keyFile: keyFile, secretFile: folder + "/shared-secret"),
            to: folder + "/apps.yaml")
        // The mock gives a killed worker's partitions away when its session has timed out, and not before. An empty
        // fetch takes its whole time there.
        try Self.write("session.timeout.ms=6000\nfetch.wait.max.ms=10\n", to: folder + "/kafka.properties")
        environment = [
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": bootstrapServers,
            "GRANTOR_KAFKA_PROPERTIES_FILE": folder + "/kafka.properties",
            "GRANTOR_LEDGER_URL": self.ledgerURL, "GRANTOR_APPS_FILE": folder + "/apps.yaml",
            "GRANTOR_HTTP_BIND": "127.0.0.1:0", "GRANTOR_LOG_FORMAT": "text",
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": apple.productionURL,
            "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": apple.sandboxURL,
            "GRANTOR_SERVER_API_PRODUCTION_URL": apple.serverAPIProductionURL,
            "GRANTOR_SERVER_API_SANDBOX_URL": apple.serverAPISandboxURL, "GRANTOR_APPLE_CA_FILE": apple.caFile,
            "GRANTOR_APPLE_ROOT_CERTIFICATES": apple.rootsFile,
        ]
        let migration = try ChildProgram([path, "migrate"], environment: environment, log: logFile)
        guard migration.waitForEnd(within: Self.migrateLimit) == 0 else {
            throw DemoFailure("no ledger can be made; see \(logFile)")
        }
    }

    func start() throws(DemoFailure) {
        running = try ChildProgram([program, "run"], environment: environment, log: logFile)
    }

    /// - Throws: if the worker ended by itself.
    func mustRun() throws(DemoFailure) {
        guard let running, running.isRunning else { throw DemoFailure("the worker ended by itself; see \(logFile)") }
    }

    /// `kill -9`.
    func kill() {
        running?.kill()
        running = nil
    }

    /// Stops the worker in order.
    ///
    /// - Returns: whether it ended with exit code 0.
    func stop() -> Bool {
        defer { running = nil }
        return running?.stop(within: Self.stopLimit) == 0
    }

    private static func write(_ text: String, to file: String) throws(DemoFailure) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DemoFailure("\(file) cannot be written (errno \(errno))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw DemoFailure("\(file) cannot be written (errno \(errno))")
        }
    }
}
