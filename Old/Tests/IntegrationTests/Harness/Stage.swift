import AppStoreSimulator
import Foundation
import Ledger
import Logging
import PostgresTesting
import Purchases
import SystemTesting
import Testing

/// What one test plays on: a broker, an App Store, a ledger, an apps file, and workers that are started on them.
final class Stage: Sendable {
    let folder: TemporaryFolder
    let broker: any Broker
    let apple: Apple
    private let environment: [String: String]
    private let starts = Counter()
    private let database: PostgresLedgerConfiguration?

    var ledgerPath: String { folder.url.appending(path: "ledger.db").path }

    /// - Parameters:
    ///   - properties: librdkafka properties of the worker, over those of the broker.
    ///   - environment: variables of the worker, over those that every test needs.
    ///   - inventory: URL of the app's inventory service.
    ///   - database: URL of a PostgreSQL ledger; the ledger is a file of the stage's own without it.
    init(
        _ folder: TemporaryFolder, broker: any Broker, properties: [String: String] = [:],
        environment: [String: String] = [:], inventory: String? = nil, database: String? = nil
    ) async throws {
        self.folder = folder
        self.database = try database.map { try #require(PostgresLedgerConfiguration(url: $0)) }
        self.broker = broker
        apple = try await Apple.start(in: folder.url)
        let merged = broker.properties.merging(properties) { $1 }
        let lines = merged.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let standard = [
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers,
            "GRANTOR_KAFKA_PROPERTIES_FILE": try folder.write(
                lines.joined(separator: "\n") + "\n", to: "kafka.properties"),
            "GRANTOR_LEDGER_URL": database ?? "sqlite:\(folder.url.appending(path: "ledger.db").path)",
            "GRANTOR_APPS_FILE": try AppsFile.write(in: folder, inventory: inventory),
            "GRANTOR_HTTP_BIND": "127.0.0.1:0",
            "GRANTOR_LOG_FORMAT": "json",
            "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": apple.endpoints.productionURL.absoluteString,
            "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": apple.endpoints.sandboxURL.absoluteString,
            "GRANTOR_APPLE_CA_FILE": apple.endpoints.caFile.path,
            "GRANTOR_APPLE_ROOT_CERTIFICATES": apple.endpoints.rootsFile.path,
        ]
        self.environment = standard.merging(environment) { $1 }
    }

    /// Starts the worker; the next one after it ended goes on with the same ledger and group.
    func startWorker() throws -> WorkerProcess {
        try WorkerProcess(environment: environment, in: folder.url, name: "worker-\(starts.next())")
    }

    /// Has `grantor audit` judge the deployment.
    ///
    /// - Parameter drained: whether all that was submitted is settled and published.
    /// - Returns: how it ended, and what it said.
    func audit(drained: Bool) async throws -> (exit: ChildProcess.Exit, text: String) {
        let said = try await operators.run(["audit"] + (drained ? ["--drained"] : []))
        return (said.exit, said.output + said.errors)
    }

    /// People at a terminal of this deployment.
    var operators: Operators { Operators(environment: environment, folder: folder) }

    /// Looks into the ledger while a worker may be writing to it.
    func withLedger<Result>(_ body: (any LedgerStore & LedgerReader) async throws -> Result) async throws -> Result {
        if let database {
            let ledger = try await PostgresLedger.open(database, logger: .silent)
            let result = try await body(ledger)
            await ledger.close()
            return result
        }
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: ledgerPath, migrate: false), logger: .silent)
        let result = try await body(ledger)
        try await ledger.close()
        return result
    }

    /// Waits until so many submissions have an outcome that is final and nothing is left to be published.
    @discardableResult
    func settled(_ count: Int, quarantined: Int = 0, within limit: Duration) async throws -> LedgerCounts {
        try await withLedger { ledger in
            var last: LedgerCounts?
            do {
                return try await eventually("\(count) submissions are settled", within: limit) {
                    let counts = try await ledger.counts()
                    last = counts
                    let done = (counts.submissions[.granted] ?? 0) + (counts.submissions[.failed] ?? 0)
                    return done >= count && counts.quarantined >= quarantined && counts.unpublished == 0
                        ? counts : nil
                }
            } catch let missed as DeadlineMissed {
                throw DeadlineMissed(description: "\(missed), only \(last.map { "\($0)" } ?? "nothing")")
            }
        }
    }

    /// Makes a ledger on the PostgreSQL server that tests share.
    ///
    /// - Returns: its URL.
    static func makeDatabase() async throws -> String {
        let server = try await PostgresServer.sharedServer()
        let url = server.url(schema: try await server.freshSchema())
        _ = try await PostgresLedger.migrate(try #require(PostgresLedgerConfiguration(url: url)))
        return url
    }

    /// Ends the App Store.
    func close() async throws {
        try await apple.simulator.stop()
    }
}
