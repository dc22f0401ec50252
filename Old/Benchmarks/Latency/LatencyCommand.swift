import ArgumentParser
import Foundation

/// `grantor-bench latency`: how long a submission takes where the worker is not busy.
struct LatencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency", abstract: "Measures how long submissions take at a tenth of what the worker can do.")

    @OptionGroup var options: BenchOptions

    @Option(help: "Submissions per second; without it a tenth of what a short run reaches.")
    var rate: Double?

    @Option(help: "Seconds that are measured.")
    var seconds = 15.0

    @Option(help: "Milliseconds that Apple takes for a receipt; they do not count.")
    var appleLatency = 100

    func run() async throws {
        let results = try await measure()
        print(Self.text(results))
        try ResultFile.write(results, to: options.output)
    }

    /// One result for each case: the run whose 99th percentile is the median.
    func measure() async throws -> [LatencyMeasurement] {
        var results: [LatencyMeasurement] = []
        for scenario in cases {
            let perSecond = try await paced(scenario)
            var runs: [LatencyMeasurement] = []
            for number in 1...max(1, options.runs) {
                Progress.say(
                    "latency, \(scenario.name), \(perSecond.text())/s, run \(number) of \(max(1, options.runs))")
                let run = LatencyRun(
                    scenario: scenario, binaries: URL(filePath: options.binaries), perSecond: perSecond,
                    seconds: seconds)
                runs.append(try await run.measure())
            }
            results.append(runs.sorted { $0.seen99 < $1.seen99 }[runs.count / 2])
        }
        return results
    }

    private var cases: [BenchCase] {
        [
            BenchCase(evidence: .signedTransaction), BenchCase(evidence: .signedTransaction, ledger: .postgres),
            BenchCase(latencyMilliseconds: appleLatency),
            BenchCase(ledger: .postgres, latencyMilliseconds: appleLatency),
        ]
    }

    private func paced(_ scenario: BenchCase) async throws -> Double {
        if let rate { return rate }
        Progress.say("latency, \(scenario.name), how much is a tenth")
        var scenario = scenario
        // Signed ones are made beforehand, so there is a number of them.
        scenario.window = scenario.evidence == .receipt ? .seconds(4) : .submissions(20_000)
        var run = options.run(scenario)
        run.measuresBound = false
        return try await run.measure().receiptsPerSecond / 10
    }

    static func text(_ results: [LatencyMeasurement]) -> String {
        var table = ColumnTable("case", "per second", "seen p50 ms", "p99", "written p50 ms", "p99", "submissions")
        for result in results {
            table.add(
                result.scenario.name, result.perSecond.text(), result.seenMedian.text(1), result.seen99.text(1),
                result.writtenMedian.text(), result.written99.text(), String(result.count))
        }
        return table.text + "\n"
            + """
            From the submission's record to its event, less Apple's own time: until a consumer has it (seen), and the time that \
            the event's own record bears (written).
            """
    }
}
