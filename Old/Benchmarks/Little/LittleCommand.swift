import ArgumentParser
import Foundation

/// `grantor-bench little`: receipts per second where Apple takes its time, as a share of in flight divided by latency, which
/// no worker can exceed (Little's law).
struct LittleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "little", abstract: "Measures how much of in flight divided by latency is reached.")

    @OptionGroup var options: BenchOptions

    @Option(help: "Seconds that are measured.")
    var seconds = 15.0

    func run() async throws {
        let results = try await measure()
        print(Self.text(results))
        try ResultFile.write(results, to: options.output)
    }

    func measure() async throws -> [CaseResult] {
        // Connections take a second for a thousand, and every one of them has to be there.
        let cases = [(250, 1000, 4.0), (1000, 4000, 10.0)].map { latency, inFlight, warmUp in
            BenchCase(
                latencyMilliseconds: latency, inFlight: inFlight, warmUpSeconds: warmUp, window: .seconds(seconds))
        }
        return try await options.measure(cases.map { ("little, \($0.name)", options.run($0)) })
    }

    static func text(_ results: [CaseResult]) -> String {
        var table = ColumnTable("case", "in flight", "receipts/s", "ceiling", "share %", "bare/s", "CPU us", "ratio")
        for result in results {
            table.add(
                result.scenario.name, String(result.scenario.inFlight), result.median(\.receiptsPerSecond).text(),
                result.scenario.ceiling?.text() ?? "-", result.shareOfCeiling.map { ($0 * 100).text(1) } ?? "-",
                result.median { $0.bareLoop?.callsPerSecond ?? .nan }.text(),
                result.median(\.cpuMicrosecondsPerReceipt).text(1), result.median(\.ratio).text(2))
        }
        return table.text
    }
}
