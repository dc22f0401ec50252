import CommandParser
import Configuration
import Foundation
import Ledger
import Testing

@testable import Commands

@Suite("Commands")
struct CommandsTests {
    private let grantor: SampleRun

    init() throws { grantor = try SampleRun() }

    @Test(
        "Exit codes tell done, failed, bad usage and bad configuration apart",
        arguments: [
            ("submissions list --state failed --limit 5 --before failed:9 --json", CommandParser.ExitStatus.done),
            ("submissions list --state granted --app com.example.game --user u-1", .done),
            ("submissions list --state failed --cause owned_by_another_user", .done),
            ("submissions list --state retrying --cause no_answer", .done),
            ("submissions list --state held --cause shared_secret_refused", .done),
            ("submissions list --state held --cause nonsense", .usage),
            ("submissions list --state held --user nobody", .done),
            ("submissions list --state held --user nobody --json", .done),
            ("submissions list --state held --user -u", .done),
            ("submissions list", .done), ("submissions list --user nobody", .done),
            ("submissions list --state parked", .usage),
            ("find u-1", .done), ("find gone --limit 5", .failed), ("find gone --json", .failed), ("find", .usage),
            ("submissions list --state held --limit 0", .usage),
            ("submissions list --state held --limit 1001", .usage),
            ("submissions show granted --app com.example.game", .done), ("submissions show granted", .done),
            ("submissions show gone", .failed), ("submissions show gone --json", .failed),
            ("submissions show -- -gone", .failed), ("submissions show -gone", .usage), ("submissions show", .usage),
            ("grants show", .usage), ("grants show --limit 3", .usage), ("grants show --user u-1", .done),
            ("grants show --user nobody", .failed), ("grants show --user nobody --before 5", .done),
            ("grants show --user nobody --json", .failed),
            ("grants show 1000001 --json", .done), ("grants show --order o-1", .done),
            ("grants show --submission granted", .done),
            ("submissions list --state held --config /nowhere/grantor.yaml", .configuration), ("migrate", .done),
            ("migrate --json", .done), ("ledger accept 0b7d9a52-0000-4000-8000-000000000001", .usage),
            // It asks for the group's offsets, and no broker is configured here.
            ("ledger accept 0b7d9a52-0000-4000-8000-000000000001 --actor anna --reason moved", .configuration),
            ("ledger accept other --actor anna --reason moved", .failed), ("partitions list", .done),
            ("outbox list", .done), ("submissions abandon held --app com.example.game", .usage),
            ("submissions abandon held --app com.example.game --actor anna --reason settled", .done),
            ("partitions pass --partition 5 --from 173 --actor anna --reason damaged", .usage),
            // It asks for the partition's end, and no broker is configured here.
            ("partitions pass --partition 5 --from 173 --through 174 --actor anna --reason damaged", .configuration),
        ])
    func exitCodes(line: String, status: CommandParser.ExitStatus) {
        let result = grantor(line)
        #expect(result.status == status)
        #expect(result.errors.isEmpty == (status == .done))
        #expect(status == .done || result.errors.hasPrefix("grantor: "))
    }

    @Test("A command that the configuration's other mistakes do not concern answers")
    func onlyTheLedgerIsNeeded() throws {
        let file = grantor.folder + "/grantor.yaml"
        try """
        kafka: {bootstrapServers: "nowhere", propertiesFile: /nowhere/kafka.properties}
        apple: {caFile: /nowhere/ca.pem, rootCertificates: /nowhere/roots.pem}
        http: {bind: nowhere}
        maxCalls: none
        """.write(toFile: file, atomically: true, encoding: .utf8)
        for line in ["submissions list --state held", "grants show --user u-1", "migrate"] {
            #expect(grantor("\(line) --config \(file)").status == .done)
        }
        try "ledger: {ulr: sqlite:other.db}\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(
            grantor("migrate --config \(file)").errors
                == "grantor: \(file):1: ledger.ulr is unknown; docs/configuration.md has every name\n")
    }

    @Test("No command makes up a ledger")
    func ledgerRequired() throws {
        var grantor = grantor
        grantor.environment["GRANTOR_LEDGER_URL"] = nil
        let result = grantor("submissions list --state held")
        #expect(result.status == .configuration)
        #expect(result.errors == "grantor: GRANTOR_LEDGER_URL (ledger.url in the file) must be set\n")
    }

    @Test(
        "A ledger that does not open ends the command with what helps",
        arguments: [
            (LedgerError.unavailable(detail: "busy"), CommandParser.ExitStatus.failed),
            (.disconnected(detail: "gone\n"), .failed), (.unusable(detail: "no such folder"), .configuration),
        ])
    func ledgerErrors(error: LedgerError, status: CommandParser.ExitStatus) throws {
        var grantor = grantor
        grantor.open = { () throws(LedgerError) in throw error }
        for line in ["submissions list --state held", "grants show --user u-1", "migrate"] {
            let result = grantor(line)
            #expect(result.status == status && result.output.isEmpty)
            #expect(result.errors.hasPrefix("grantor: the ledger ") && result.errors.count { $0 == "\n" } == 1)
        }
    }

    @Test("Every command explains itself in lines of at most 80 characters")
    func help() {
        for line in [
            "", "migrate", "find", "submissions", "submissions list", "submissions show", "submissions abandon",
            "outbox", "outbox list", "grants", "grants show",
            "ledger",
            "ledger accept",
        ] {
            let result = grantor("help \(line)")
            #expect(result.status == .done && result.output.hasPrefix("OVERVIEW: "))
            for line in result.output.split(separator: "\n") where !line.hasPrefix("USAGE: ") {
                #expect(line.count <= 80)
            }
        }
    }
}
