import ArgumentParser
import Foundation
import Logging

/// `grantor demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Runs the whole job on embedded parts and checks the result.",
        discussion: """
            Starts a Kafka mock cluster, an App Store simulator over TLS and a SQLite ledger in a temporary folder, \
            submits more than 1,000 purchases and attempts at fraud, shows progress, and ends with a table. Exits 0 only \
            if every submission got the answer it must have and every purchase was granted once.
            """)

    @Flag(name: .long, help: "Show the worker's log on standard error.")
    var verbose = false

    @Option(name: .long, help: "Submit to this broker (host:port) instead, for a worker that runs elsewhere.")
    var produceTo: String?

    @Option(name: .long, help: "With --produce-to: the simulator's control address.")
    var simulator: String?

    @Option(name: .long, help: "With --produce-to: the folder with the simulator's keys and certificates.")
    var authorityFolder: String?

    @OptionGroup var configuration: ConfigurationOptions

    func validate() throws {
        let given = [produceTo, simulator, authorityFolder].filter { $0 != nil }.count
        guard given == 0 || given == 3 else {
            throw ValidationError("--produce-to, --simulator and --authority-folder go together")
        }
    }

    func run() async throws {
        var logger = Logger(label: "demo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .info : .critical
        let passed: Bool
        do {
            passed = try await play(logger)
        } catch let error as ExitCode {
            throw error
        } catch {
            throw ExitStatus.failed.saying("the demo broke off: \(ErrorSentence.of(error))")
        }
        if !passed { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func play(_ logger: Logger) async throws -> Bool {
        guard let produceTo, let simulator, let authorityFolder else {
            return try await DemoRun(logger: logger, display: ProgressDisplay()).run()
        }
        return try await RemoteDemo(
            bootstrapServers: produceTo,
            topics: try configuration.load { values throws(ConfigurationError) in try TopicNames(values) },
            simulator: simulator,
            authorityFolder: URL(filePath: authorityFolder), logger: logger, display: ProgressDisplay()
        ).run()
    }
}
