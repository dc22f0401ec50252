import ArgumentParser
import Foundation

/// `grantor-bench`: receipts per second, CPU per receipt and peak memory of the worker process, end to end.
///
/// Broker, simulator, worker and load are four processes on one machine, so receipts per second is what all of them
/// reach together; CPU per receipt is the worker's own and holds up better under other load.
@main
struct GrantorBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grantor-bench", abstract: "Measures grantor run against the App Store simulator.")

    @Option(help: "Folder with the release build's executables.")
    var binaries = ".build/release"

    @Option(help: "Receipts per run.")
    var receipts = 20_000

    @Option(help: "Runs per case; the median counts.")
    var runs = 3

    @Option(help: "Calls to Apple in flight at once.")
    var inFlight = 1000

    @Option(name: .customLong("latency"), help: "Milliseconds that Apple takes; may be given several times.")
    var latencies: [Int] = [0, 250]

    @Option(help: "Bytes of a receipt before base64.")
    var receiptBytes = 8_000

    @Option(help: "File that the results are written to, as JSON.")
    var output: String?

    func run() async throws {
        var results: [CaseResult] = []
        for latency in latencies {
            let scenario = BenchCase(
                latencyMilliseconds: latency, inFlight: inFlight, receipts: receipts, receiptBytes: receiptBytes)
            var measurements: [Measurement] = []
            for run in 1...max(1, runs) {
                FileHandle.standardError.write(Data("latency \(latency) ms, run \(run) of \(runs) ...\n".utf8))
                let bench = BenchRun(scenario: scenario, binaries: URL(filePath: binaries))
                measurements.append(try await bench.measure())
            }
            results.append(CaseResult(scenario: scenario, measurements: measurements))
        }
        print(ResultTable(results: results).text)
        guard let output else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(results).write(to: URL(filePath: output))
    }
}
