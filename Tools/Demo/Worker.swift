import AppStoreSimulator

/// `grantor run` as a program, with the files that it needs in the demo's folder.
final class Worker {
    /// Longest wait for a worker that was ordered to stop.
    private static let stopLimit = Duration.seconds(25)
    /// Longest time for a ledger to be made.
    private static let migrateLimit = Duration.seconds(120)

    let ledgerURL: String
    private let folder: String
    private let program: String
    private let httpPort: Int
    private var environment: [String: String] = [:]
    private var running: ChildProgram?

    /// - Parameters:
    ///   - path: the program `grantor`.
    ///   - ledgerURL: as the worker's setting has it; the ledger must not be there yet.
    ///   - httpPort: for health and metrics; 0 for any.
    init(program path: String, folder: String, ledgerURL: String, httpPort: Int) {
        program = path
        self.httpPort = httpPort
        self.folder = folder
        self.ledgerURL = ledgerURL
    }

    private var logFile: String { folder + "/worker.log" }

    /// Writes the files and creates the ledger; nothing runs yet.
    ///
    /// - Parameter key: a key that the simulator accepts.
    func prepare(bootstrapServers: String, apple: AppStoreSimulator.Endpoints, key: ServerAPIKey) throws {
        let files = WorkerFiles(folder: folder, mode: 0o600)
        try files.write(key: key)
        // The mock gives a killed worker's partitions away only when its session has timed out. An empty fetch takes
        // its whole time there.
        try files.write("session.timeout.ms=6000\nfetch.wait.max.ms=10\n", to: folder + "/kafka.properties")
        environment = [
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": bootstrapServers,
            "GRANTOR_KAFKA_PROPERTIES_FILE": folder + "/kafka.properties",
            "GRANTOR_LEDGER_URL": ledgerURL, "GRANTOR_APPS_FILE": files.apps,
            "GRANTOR_HTTP_BIND": "127.0.0.1:\(httpPort)", "GRANTOR_LOG_FORMAT": "text",
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": apple.productionURL,
            "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": apple.sandboxURL,
            "GRANTOR_SERVER_API_PRODUCTION_URL": apple.serverAPIProductionURL,
            "GRANTOR_SERVER_API_SANDBOX_URL": apple.serverAPISandboxURL, "GRANTOR_APPLE_CA_FILE": apple.caFile,
            "GRANTOR_APPLE_ROOT_CERTIFICATES": apple.rootsFile,
        ]
        let migration = try ChildProgram([program, "migrate"], environment: environment, log: logFile)
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
}
