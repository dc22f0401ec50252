import ArgumentParser
import Ledger
import Purchases
import Testing

@testable import Worker

@Suite("Operator commands")
struct CommandTests {
    private func opener(_ open: @escaping @Sendable () throws(LedgerError) -> any LedgerReader) -> LedgerOpener {
        LedgerOpener(
            reader: { _, _ async throws(LedgerError) in try open() },
            migrate: { _, _ async throws(LedgerError) in
                _ = try open()
                return .migrated(from: 0, to: 1)
            })
    }

    /// The exit code that a command ends with.
    private func status(_ arguments: [String], _ opener: LedgerOpener) async -> Int32 {
        await LedgerOpener.$current.withValue(opener) {
            do {
                var command = try Commands.parseAsRoot(arguments)
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
                return 0
            } catch {
                return Commands.exitCode(for: error).rawValue
            }
        }
    }

    private struct Commands: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            subcommands: [SubmissionsCommand.self, GrantsCommand.self, MigrateCommand.self])
    }

    @Test(
        "Exit codes tell done, failed, bad usage and bad configuration apart",
        arguments: [
            (["submissions", "list", "--outcome", "failed", "--limit", "5", "--before", "9", "--json"], Int32(0)),
            (["submissions", "list", "--app", "com.example.game", "--user", "u-1", "--order", "o-1"], 0),
            (["submissions", "show", "s-1", "--app", "com.example.game"], 0), (["submissions", "show", "s-9"], 1),
            (["submissions", "list", "--outcome", "lost"], 64), (["submissions", "list", "--limit", "0"], 64),
            (["submissions", "list", "--limit", "1001"], 64), (["submissions", "show"], 64),
            (["grants", "show"], 64), (["grants", "show", "--user", "u-1"], 0), (["grants", "show", "none"], 1),
            (["submissions", "list", "--config", "/nowhere/grantor.yaml"], 78), (["migrate"], 0),
        ])
    func exitCodes(arguments: [String], expected: Int32) async {
        #expect(await status(arguments, opener { LedgerFixture.twoSubmissions() }) == expected)
    }

    @Test(
        "A ledger that does not open ends the command with what helps",
        arguments: [
            (LedgerError.unavailable("busy"), Int32(1)), (.damaged("x"), 1), (.schemaBehind(found: 0, known: 1), 1),
            (.schemaAhead(found: 2, known: 1), 1), (.unusable("no such folder"), 78),
        ])
    func ledgerErrors(error: LedgerError, expected: Int32) async {
        let failing = opener { () throws(LedgerError) in throw error }
        #expect(await status(["submissions", "list"], failing) == expected)
        #expect(await status(["migrate"], failing) == expected)
    }

    @Test("A migration says what it did")
    func migration() {
        #expect(MigrateCommand.text(.alreadyCurrent) == "The ledger's schema is up to date.")
        #expect(
            MigrateCommand.text(.migrated(from: 0, to: 1)) == "The ledger's schema went from version 0 to version 1.")
    }
}
