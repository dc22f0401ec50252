import ArgumentParser
import Ledger
import Purchases
import Testing

@testable import Worker

@Suite("Operator commands")
struct CommandTests {
    private func opener(_ open: @escaping @Sendable () throws(LedgerError) -> any OperatorLedger) -> LedgerOpener {
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
            CommandLineCase("submissions list --outcome failed --limit 5 --before 9 --json", .done),
            CommandLineCase("submissions list --app com.example.game --user u-1 --order o-1", .done),
            CommandLineCase("submissions list --user nobody", .done),
            CommandLineCase("submissions list --user nobody --json", .done),
            CommandLineCase("submissions list --cause owned_by_another_user", .done),
            CommandLineCase("submissions list --cause noAnswer", .done),
            CommandLineCase("submissions list --cause sharedSecretRefused", .done),
            CommandLineCase("submissions list --cause nonsense", .usage),
            CommandLineCase("submissions show s-1 --app com.example.game", .done),
            CommandLineCase("submissions show s-9", .failed),
            CommandLineCase("submissions show -- -s-9", .failed),
            CommandLineCase("submissions show -s-9", .usage),
            CommandLineCase("submissions list --user -u --order --o", .done),
            CommandLineCase("grants show --user -u", .failed),
            CommandLineCase("submissions list --outcome lost", .usage),
            CommandLineCase("submissions list --limit 0", .usage),
            CommandLineCase("submissions list --limit 1001", .usage),
            CommandLineCase("submissions show", .usage),
            CommandLineCase("grants show", .usage),
            CommandLineCase("grants show --user u-1", .done),
            CommandLineCase("grants show order-10002:1", .usage),
            CommandLineCase("grants show 0b7d9a52-0000-5000-8000-00000000000g", .usage),
            CommandLineCase("grants show 0b7d9a52-0000-5000-8000-00000000000f", .failed),
            CommandLineCase("grants show 0b7d9a52-0000-5000-8000-000000000001", .done),
            CommandLineCase("grants show 1000001", .done),
            CommandLineCase("grants show 1000002", .failed),
            CommandLineCase("grants show --transaction 1000001 --json", .done),
            CommandLineCase("grants show 1000001 --transaction 1000001", .usage),
            CommandLineCase("submissions list --config /nowhere/grantor.yaml", .configuration),
            CommandLineCase("migrate", .done),
            CommandLineCase("migrate --json", .done),
        ])
    func exitCodes(line: CommandLineCase) async {
        #expect(await status(line.arguments, opener { LedgerFixture.twoSubmissions() }) == line.expected.rawValue)
    }

    struct CommandLineCase: Sendable {
        let arguments: [String]
        let expected: Worker.ExitStatus

        init(_ line: String, _ expected: Worker.ExitStatus) {
            arguments = line.split(separator: " ").map(String.init)
            self.expected = expected
        }
    }

    @Test("What is neither a grant's id nor a transaction's is said to be so")
    func neither() throws {
        let error = try #require(throws: (any Error).self) {
            try Commands.parseAsRoot(["grants", "show", "order-10002:1"])
        }
        let words = Commands.message(for: error)
        #expect(words == #""order-10002:1" is neither the id of a grant (a UUID) nor of a transaction (digits)"#)
    }

    @Test("A command is bad usage without the file that --config is to name")
    func emptyPath() async {
        let opener = opener { LedgerFixture.twoSubmissions() }
        #expect(await status(["submissions", "list", "--config", ""], opener) == 64)
    }

    @Test("What a command does not need does not keep it from its answer")
    func onlyTheLedgerIsNeeded() async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write(
            """
            kafka: {bootstrapServers: "nowhere", propertiesFile: /nowhere/kafka.properties}
            appsFile: /nowhere/apps.yaml
            apple: {caFile: /nowhere/ca.pem, rootCertificates: /nowhere/roots.pem}
            http: {bind: nowhere}
            maxInFlight: none
            """, to: "grantor.yaml")
        let opener = opener { LedgerFixture.twoSubmissions() }
        for command in [["submissions", "list"], ["grants", "show", "--user", "u-1"], ["migrate"]] {
            #expect(await status(command + ["--config", config], opener) == 0)
        }
        let misspelt = try folder.write("ledger: {ulr: sqlite:other.db}\n", to: "misspelt.yaml")
        #expect(await status(["submissions", "list", "--config", misspelt], opener) == 78)
    }

    @Test(
        "A ledger that does not open ends the command with what helps",
        arguments: [
            (LedgerError.unavailable("busy"), Worker.ExitStatus.failed), (.damaged("x"), .failed),
            (.schemaBehind(found: 0, known: 1), .failed), (.schemaAhead(found: 2, known: 1), .failed),
            (.unusable("no such folder"), .configuration),
        ])
    func ledgerErrors(error: LedgerError, expected: Worker.ExitStatus) async {
        let failing = opener { () throws(LedgerError) in throw error }
        #expect(await status(["submissions", "list"], failing) == expected.rawValue)
        #expect(await status(["migrate"], failing) == expected.rawValue)
    }

    @Test("A migration says what it did")
    func migration() {
        let text = AnswerFormat.text(width: nil)
        let ledger = LedgerSettings.file("grantor.db")
        #expect(
            MigrateCommand.answer(.alreadyCurrent, of: ledger, text)
                == "The schema of sqlite:grantor.db is up to date.\n")
        #expect(
            MigrateCommand.answer(.migrated(from: 0, to: 1), of: ledger, text)
                == "The schema of sqlite:grantor.db went from version 0 to version 1.\n")
        #expect(MigrateCommand.answer(.alreadyCurrent, of: ledger, .json) == "{\n  \"migrated\" : false\n}\n")
        #expect(
            MigrateCommand.answer(.migrated(from: 0, to: 1), of: ledger, .json)
                == "{\n  \"from\" : 0,\n  \"migrated\" : true,\n  \"to\" : 1\n}\n")
    }
}
