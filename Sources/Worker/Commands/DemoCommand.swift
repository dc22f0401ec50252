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

    func run() async throws {
        var logger = Logger(label: "demo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .info : .critical
        let passed: Bool
        do {
            passed = try await DemoRun(logger: logger, display: ProgressDisplay()).run()
        } catch {
            throw ExitStatus.failed.saying("The demo broke off: \(error)")
        }
        if !passed { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
