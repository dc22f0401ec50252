import CommandParser
import Configuration
import Foundation
import Ledger
import Synchronization

@testable import Commands

/// A call of the program with a ledger and an apps file of its own.
struct SampleRun {
    /// The end of a call.
    struct Result: Equatable {
        let status: ExitStatus
        let output: String
        let errors: String
    }

    let ledger = FixedLedger()
    var cluster = FixedCluster()
    var apple = FixedApple()
    var hasLedger = true
    let folder: String
    var environment: [String: String]
    var open: @Sendable () throws(LedgerError) -> Void = {}

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "grantor-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let apps = folder + "/apps.yaml"
        // The secret is not there: commands that read ledgers only do without.
        try "apps: [{bundleId: com.example.puzzle}, {bundleId: com.example.game, sharedSecretFiles: [none]}]\n"
            .write(toFile: apps, atomically: true, encoding: .utf8)
        environment = ["GRANTOR_LEDGER_URL": "sqlite:\(folder)/grantor.db", "GRANTOR_APPS_FILE": apps]
    }

    func callAsFunction(_ line: String) -> Result { run(line.split(separator: " ").map(String.init)) }

    func run(_ arguments: [String]) -> Result {
        let output = Mutex("")
        var errors = ""
        let context = CommandContext(
            environment: environment, width: nil, now: { FixedLedger.time },
            output: { text throws(CommandFailure) in output.withLock { $0 += text } },
            ledgers: LedgerOpener(
                exists: { [hasLedger] _ in hasLedger },
                open: { [ledger, open] _ throws(LedgerError) in
                    try open()
                    return ledger
                },
                migrate: { [ledger, open] _ throws(LedgerError) in
                    try open()
                    return ledger.migrate()
                }), cluster: { [cluster] _ in cluster }, checkClients: { _ in }, apple: { [apple] _ in apple })
        let status = GrantorProgram.program.run(
            arguments, context: context,
            output: { text throws(CommandFailure) in output.withLock { $0 += text } }, errors: { errors += $0 })
        return Result(status: status, output: output.withLock { $0 }, errors: errors)
    }
}
