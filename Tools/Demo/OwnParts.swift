import AppStoreSimulator
import Ledger
import LedgerPostgres
import LedgerSQLite

/// A Kafka mock and one worker, programs of the demo's own on this host.
final class OwnParts: Stage {
    let folder: String
    let apple: (host: String, productionPort: Int, sandboxPort: Int)? = nil
    private let mock: KafkaMock
    private let worker: Worker

    /// Starts the mock.
    ///
    /// - Parameters:
    ///   - programs: the folder with `grantor` and `kafka-mock`.
    ///   - ledgerURL: an empty database; nil for a SQLite file in the folder.
    ///   - httpPort: the worker's, for health and metrics; 0 for any.
    init(programs: String, folder: String, ledgerURL: String?, httpPort: Int) throws(DemoFailure) {
        self.folder = folder
        mock = try KafkaMock(program: programs + "/kafka-mock", folder: folder)
        worker = Worker(
            program: programs + "/grantor", folder: folder, ledgerURL: ledgerURL ?? "sqlite:\(folder)/ledger.db",
            httpPort: httpPort)
    }

    var parts: String { "a Kafka mock and a worker with a ledger on \(file == nil ? "PostgreSQL" : "SQLite")" }

    /// The ledger's file; nil where it is no SQLite file.
    private var file: String? {
        let scheme = "sqlite:"
        return worker.ledgerURL.hasPrefix(scheme) ? String(worker.ledgerURL.dropFirst(scheme.count)) : nil
    }

    var bootstrapServers: String { mock.bootstrapServers }

    var accidents: [Accident] {
        let restart = Accident(text: "killed the worker (kill -9); started another one") { [worker] in
            worker.kill()
            try worker.start()
        }
        return [restart]
    }

    var traces: String { "The worker's log and ledger are in \(folder)." }

    func prepare(apple: AppStoreSimulator.Endpoints, key: ServerAPIKey) throws {
        try worker.prepare(bootstrapServers: bootstrapServers, apple: apple, key: key)
    }

    func start() throws(DemoFailure) { try worker.start() }

    func mustRun() throws(DemoFailure) { try worker.mustRun() }

    func stop() -> Bool { worker.stop() }

    func ledger() throws(LedgerError) -> any LedgerOperator {
        if let file { return try SQLiteLedger(SQLiteLedgerConfiguration(path: file)) }
        return try PostgresLedger(PostgresLedgerConfiguration(url: worker.ledgerURL))
    }

    func end(passed: Bool) {
        worker.kill()
        mock.stop()
        if passed { remove(folder: folder) }
    }
}
