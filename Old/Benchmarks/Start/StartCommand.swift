import ArgumentParser
import Foundation
import SystemTesting

/// `grantor-bench start`: from exec to the first settled submission, which waits on the topic already.
struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Measures how long a worker takes to start.")

    private static let limit = Duration.seconds(30)

    @OptionGroup var options: BenchOptions

    func run() async throws {
        let results = try await measure()
        print(Self.text(results))
        try ResultFile.write(results, to: options.output)
    }

    func measure() async throws -> [StartMeasurement] {
        var results: [StartMeasurement] = []
        for ledger in BenchCase.Ledger.allCases {
            for number in 1...max(1, options.runs) {
                Progress.say("start, \(ledger.rawValue), run \(number) of \(max(1, options.runs))")
                results.append(try await start(BenchCase(evidence: .signedTransaction, ledger: ledger)))
            }
        }
        return results
    }

    private func start(_ scenario: BenchCase) async throws -> StartMeasurement {
        try await BenchStage.with(scenario, binaries: URL(filePath: options.binaries)) { stage in
            let clients = try BenchClients(bootstrap: stage.bootstrap)
            try await clients.join()
            let source = try SubmissionSource(scenario, authority: stage.authority)
            try await clients.send(try source.records(0..<1))
            let probe = HealthProbe(port: try FreePort.find())
            let start = ContinuousClock.now
            let worker = try stage.startWorker(httpPort: probe.port)
            defer { worker.end() }
            try probe.await200("/livez", within: Self.limit, check: worker.checkAlive)
            let live = ContinuousClock.now
            try probe.await200("/readyz", within: Self.limit, check: worker.checkAlive)
            let ready = ContinuousClock.now
            while try await clients.events().isEmpty {}
            let settled = ContinuousClock.now
            await clients.close()
            func milliseconds(_ moment: ContinuousClock.Instant) -> Double {
                start.duration(to: moment) / .milliseconds(1)
            }
            return StartMeasurement(
                ledger: scenario.ledger, live: milliseconds(live), ready: milliseconds(ready),
                settled: milliseconds(settled))
        }
    }

    static func text(_ results: [StartMeasurement]) -> String {
        var table = ColumnTable("ledger", "own start-up ms", "ready ms", "first event ms")
        for ledger in BenchCase.Ledger.allCases {
            let runs = results.filter { $0.ledger == ledger }
            table.add(
                ledger.rawValue, Statistics.median(runs.map(\.live)).text(),
                Statistics.median(runs.map(\.ready)).text(), Statistics.median(runs.map(\.settled)).text())
        }
        return table.text + "\n"
            + """
            From exec, on an empty ledger: until it answers that it lives, until it answers that it is ready (its group has \
            partitions for it), and until a consumer has the event of a submission that waited.
            """
    }
}

/// Milliseconds from exec.
struct StartMeasurement: Codable, Sendable {
    let ledger: BenchCase.Ledger
    /// To the first 200 of `/livez`.
    let live: Double
    /// To the first 200 of `/readyz`.
    let ready: Double
    /// To the event of the first submission.
    let settled: Double
}
