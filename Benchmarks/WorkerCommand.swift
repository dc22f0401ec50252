import ArgumentParser
import Foundation

/// `grantor-bench worker`: receipts per second, CPU per receipt and peak memory of the worker process, end to end.
///
/// Broker, simulator, worker and load are four processes on one machine, so receipts per second is what all of them
/// reach together; CPU per receipt is the worker's own and holds up better under other load.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Measures grantor run against the App Store simulator.")

    @Option(help: "Folder with the release build's executables.")
    var binaries = ".build/release"

    @Option(help: "Receipts per run.")
    var receipts = 20_000

    @Option(help: "Signed transactions per run; 0 leaves them out.")
    var signedTransactions = 60_000

    @Option(help: "Runs per case; the median counts.")
    var runs = 3

    @Option(help: "Calls to Apple in flight at once.")
    var inFlight = 1000

    @Option(
        name: .customLong("latency"), parsing: .upToNextOption,
        help: "Milliseconds that Apple takes for a receipt; one case for each.")
    var latencies: [Int] = [0, 250]

    @Option(help: "Bytes of a receipt before base64.")
    var receiptBytes = 8_000

    @Option(help: "Where the worker's ledger is: sqlite, or postgres for a server that is started for each run.")
    var ledger = BenchCase.Ledger.sqlite

    @Option(help: "File that the results are written to, as JSON.")
    var output: String?

    func run() async throws {
        var results: [CaseResult] = []
        for scenario in cases {
            var measurements: [Measurement] = []
            for run in 1...max(1, runs) {
                FileHandle.standardError.write(Data("\(scenario.name), run \(run) of \(runs) ...\n".utf8))
                let bench = BenchRun(scenario: scenario, binaries: URL(filePath: binaries))
                measurements.append(try await bench.measure())
            }
            results.append(CaseResult(scenario: scenario, measurements: measurements))
        }
        print(ResultTable(results: results).text)
        let verification = try VerificationCost.measure()
        print(verification.text)
        guard let output else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(Report(cases: results, verification: verification)).write(to: URL(filePath: output))
    }

    private var cases: [BenchCase] {
        let signed = BenchCase(
            evidence: .signedTransaction, latencyMilliseconds: 0, inFlight: inFlight, submissions: signedTransactions,
            receiptBytes: 0, ledger: ledger)
        return (signedTransactions > 0 ? [signed] : [])
            + latencies.map {
                BenchCase(
                    evidence: .receipt, latencyMilliseconds: $0, inFlight: inFlight, submissions: receipts,
                    receiptBytes: receiptBytes, ledger: ledger)
            }
    }

    /// What is written to a file.
    private struct Report: Encodable {
        let cases: [CaseResult]
        let verification: VerificationCost
    }
}

extension BenchCase.Ledger: ExpressibleByArgument {}
