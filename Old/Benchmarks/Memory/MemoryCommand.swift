import ArgumentParser
import Foundation

/// `grantor-bench memory`: what a worker under full load occupies, and by how much that grows.
struct MemoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory", abstract: "Measures the worker's memory under full load.")

    private static let sampleSeconds = 1.0

    @OptionGroup var options: BenchOptions

    @Option(help: "How long it is watched, after the warm-up.")
    var minutes = 5.0

    @Option(help: "Seconds before the slope counts.")
    var warmUp = 60.0

    @Option(help: "Calls to Apple in flight at once.")
    var inFlight = 1000

    @Option(name: .customLong("latency"), help: "Milliseconds that Apple takes for a receipt.")
    var latency = 250

    @Option(help: "Bytes of a receipt before base64.")
    var receiptBytes = 10_000

    @Option(help: "What is submitted: receipt or signedTransaction, which the load has to sign meanwhile.")
    var evidence = BenchCase.Evidence.receipt

    func run() async throws {
        let result = try await measure()
        print(result.text)
        try ResultFile.write(result, to: options.output)
    }

    func measure() async throws -> MemoryMeasurement {
        let scenario = BenchCase(
            evidence: evidence, latencyMilliseconds: latency, inFlight: inFlight, receiptBytes: receiptBytes)
        return try await BenchStage.with(scenario, binaries: URL(filePath: options.binaries)) { stage in
            let clients = try BenchClients(bootstrap: stage.bootstrap)
            let source = try SubmissionSource(scenario, authority: stage.authority)
            let worker = try stage.startWorker()
            defer { worker.end() }
            var load = BenchLoad(clients: clients, source: source, maxAhead: scenario.maxAhead) {
                try worker.checkAlive()
            }
            try await load.run(.submissions(1))
            var samples: [MemoryMeasurement.Sample] = []
            let start = ContinuousClock.now
            let end = warmUp + minutes * 60
            var seconds = 0.0
            while seconds < end {
                try await load.run(.seconds(Self.sampleSeconds))
                seconds = start.duration(to: .now) / .seconds(1)
                samples.append(
                    MemoryMeasurement.Sample(
                        seconds: seconds, residentMiB: try worker.memoryMiB(), answered: load.answered))
                if samples.count % 30 == 0 {
                    Progress.say(
                        "memory, \(seconds.text()) of \(end.text()) s, \(samples.last?.residentMiB.text(1) ?? "") MiB")
                }
            }
            let peak = try worker.peakMemoryMiB()
            await clients.close()
            return MemoryMeasurement(scenario: scenario, warmUpSeconds: warmUp, peakMiB: peak, samples: samples)
        }
    }
}

/// A worker's memory over time.
struct MemoryMeasurement: Codable, Sendable {
    struct Sample: Codable, Sendable {
        let seconds: Double
        let residentMiB: Double
        /// Submissions so far.
        let answered: Int
    }

    let scenario: BenchCase
    let warmUpSeconds: Double
    let peakMiB: Double
    let samples: [Sample]

    private var counted: [Sample] { samples.filter { $0.seconds >= warmUpSeconds } }

    /// By how much it grows after the warm-up.
    var kibibytesPerMinute: Double {
        Statistics.slope(of: counted.map { (x: $0.seconds / 60, y: $0.residentMiB * 1024) })
    }

    /// For people.
    var text: String {
        let resident = counted.map(\.residentMiB)
        let perSecond =
            samples.last.map { Double($0.answered) / $0.seconds } ?? 0
        return """
            memory, \(scenario.name), \(scenario.inFlight) in flight, \(perSecond.text()) per second: resident \
            \((resident.min() ?? 0).text(1)) to \((resident.max() ?? 0).text(1)) MiB after \(warmUpSeconds.text()) s, \
            peak \(peakMiB.text(1)) MiB, \(kibibytesPerMinute.text(1)) KiB/min over \
            \(((samples.last?.seconds ?? 0) - warmUpSeconds).text()) s
            """
    }
}
