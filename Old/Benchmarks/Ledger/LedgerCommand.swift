import ArgumentParser
import Foundation
import Ledger
import Logging

/// `grantor-bench ledger`: outcomes per second through the ledger's contract, on PostgreSQL.
struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Measures settling on PostgreSQL beside bare inserts of the same rows.",
        discussion: """
            Without --url a server of its own is started under the temporary folder, with every commit synced. With it, \
            the database must hold an empty ledger, which is filled.
            """)

    @Option(help: "The database; a server of its own without it.")
    var url: String?

    @Option(help: "Outcomes per run.")
    var outcomes = 100_000

    @Option(help: "Settlements per call.")
    var batch = 500

    @Option(help: "Calls at a time, each on a connection of its own.")
    var concurrency = 2

    @Option(help: "Runs; the median counts.")
    var runs = 3

    @Option(help: "Measures instead what so many submissions that wait cost the others, on both ledgers.")
    var parked: Int?

    @Option(help: "With --parked: bytes of each one's receipt.")
    var evidenceBytes = 1000

    func run() async throws {
        if let parked {
            let bench = ParkedBench(
                parked: parked, outcomes: outcomes, batch: batch, runs: runs, evidenceBytes: evidenceBytes)
            // Each as soon as it is known: they take minutes.
            print(ParkedMeasurement.header)
            print(try await bench.measureSQLite().text)
            print(try await bench.measurePostgres().text)
            return
        }
        var results: [LedgerMeasurement] = []
        for run in 1...max(1, runs) {
            FileHandle.standardError.write(Data("ledger, run \(run) of \(runs) ...\n".utf8))
            let bench = LedgerBench(
                outcomes: outcomes, batch: batch, concurrency: concurrency, seed: UInt64(run))
            results.append(try await bench.measure(at: url))
        }
        print(LedgerMeasurement.text(results, batch: batch, concurrency: concurrency))
    }
}
