import AppStore
import Audit
import CommandParser
import Configuration
import Contract
import FileTesting
import Foundation
import Fulfilment
import Kafka
import Ledger
import Logging
import Scheduling
import Synchronization

@testable import Commands

/// A call of the program with a ledger and an apps file of its own.
struct SampleRun {
    /// The end of a call.
    struct Result: Equatable {
        let status: ExitStatus
        let output: String
        let errors: String
        /// Each line's format, level and cause.
        let log: [String]
        /// An answer that is no text.
        var bytes: [UInt8] = []
    }

    /// Lines of a worker's log.
    private final class Lines: Sendable {
        private struct Handler: LogHandler {
            let format: LineLogHandler.Format
            let lines: Lines

            func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
                lines.taken.withLock { $0.append("\(format) \(level) \(metadata["cause"]?.description ?? message)") }
            }
        }

        private let taken = Mutex<[String]>([])
        var all: [String] { taken.withLock { $0 } }

        func handler(_ format: LineLogHandler.Format) -> any LogHandler { Handler(format: format, lines: self) }
    }

    var ledger = FixedLedger()
    var cluster = FixedCluster()
    var apple = FixedApple()
    var input = FixedInput()
    var quarantine = FixedQuarantine()
    let sender = FixedSender()
    /// This host's clock.
    var now = FixedLedger.time
    /// The terminal's.
    var width: Int?
    var hasLedger = true
    /// Of every inventory service.
    var service = FulfilmentReply.response(status: 404, key: nil, retryAfter: nil)
    var findings: [LedgerFinding] = []
    private let files: TemporaryFolder
    var environment: [String: String]
    var open: @Sendable () throws(LedgerError) -> Void = {}
    let pauses = Pauses()
    var holdSignals: @Sendable () -> Void = {}
    var checkClients: @Sendable () throws(CommandFailure) -> Void = {}
    /// Of every answer's writing.
    var outputFailure: CommandFailure?

    /// The times that commands let pass, which alone move the clock.
    final class Pauses: Sendable {
        private let taken = Mutex<[Duration]>([])
        var all: [Duration] { taken.withLock { $0 } }
        var now: Instant { Instant(nanoseconds: 0) + all.reduce(.zero, +) }
        func add(_ pause: Duration) { if pause > .zero { taken.withLock { $0.append(pause) } } }
    }

    var topics = FixedTopics()

    var folder: String { files.path }

    init() throws {
        files = try TemporaryFolder()
        let folder = files.path
        let apps = folder + "/apps.yaml"
        // The secret is not there: commands that read ledgers only do without.
        try "apps: [{bundleId: com.example.puzzle}, {bundleId: com.example.game, sharedSecretFiles: [none]}]\n"
            .write(toFile: apps, atomically: true, encoding: .utf8)
        environment = ["GRANTOR_LEDGER_URL": "sqlite:\(folder)/grantor.db", "GRANTOR_APPS_FILE": apps]
    }

    /// With a cluster that has all topics, and one app that sells anything.
    static func complete() throws -> SampleRun {
        var run = try SampleRun()
        run.environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = "kafka:9092"
        run.cluster = .complete
        try "apps: [{bundleId: com.example.game, sandbox: {policy: reject}, products: any}]\n"
            .write(toFile: run.folder + "/apps.yaml", atomically: true, encoding: .utf8)
        return run
    }

    func callAsFunction(_ line: String) -> Result { run(line.split(separator: " ").map(String.init)) }

    func run(_ arguments: [String]) -> Result {
        let output = Mutex("")
        let errors = Mutex("")
        let bytes = Mutex<[UInt8]>([])
        let log = Lines()
        let context = CommandContext(
            environment: environment, width: width, now: { [now] in now }, clock: { [pauses] in pauses.now },
            pause: { [pauses] in pauses.add($0) },
            output: { [outputFailure] text throws(CommandFailure) in
                if let outputFailure { throw outputFailure }
                output.withLock { $0 += text }
            },
            bytes: { piece throws(CommandFailure) in bytes.withLock { $0 += piece } },
            progress: ProgressOutput(isTerminal: false) { _ in },
            ledgers: LedgerOpener(
                exists: { [hasLedger] _ in hasLedger }, examine: { [findings] _, _ in findings },
                open: { [ledger, open] _ throws(LedgerError) in
                    try open()
                    return ledger
                },
                openAudited: { [ledger] _ in AuditedLedger(ledger) },
                migrate: { [ledger, open] _ throws(LedgerError) in
                    try open()
                    return ledger.migrate()
                }), auditedTopics: { [topics] _ in topics }, cluster: { [cluster] _ in cluster },
            input: { [input] _ in input }, quarantine: { [quarantine] _ in quarantine },
            sender: { [sender] _, _ in sender }, holdSignals: holdSignals,
            checkClients: { [checkClients] _ throws(CommandFailure) in try checkClients() },
            apple: { [apple] _ in apple },
            service: { [service] _ in service },
            logHandler: { log.handler($0) })
        let status = GrantorProgram.program.run(
            arguments, context: context,
            output: { text throws(CommandFailure) in output.withLock { $0 += text } },
            errors: { text in errors.withLock { $0 += text } })
        return Result(
            status: status, output: output.withLock { $0 }, errors: errors.withLock { $0 }, log: log.all,
            bytes: bytes.withLock { $0 })
    }
}
