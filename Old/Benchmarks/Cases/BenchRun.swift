import Foundation

/// Runs of a case, each from starting the processes to ending them.
struct BenchRun: Sendable {
    /// Bare calls that count, at most and for how long: where Apple takes its time there are fewer.
    private static let bareCalls = 20_000
    private static let bareSeconds = 5.0
    /// Made ahead of the clock beyond those that count: for the warm-up, and for those on their way at the end.
    private static let spareTransactions = 30_000
    /// What one run has for itself of a ledger that several use.
    static let numbersPerRun = 10_000_000

    let scenario: BenchCase
    let binaries: URL
    /// Another build's, for the worker alone.
    var workerBinaries: URL?
    /// The URL of a ledger that all runs use; nil for a new one each time.
    var ledger: String?
    /// Whether submissions have ids without order.
    var isScattered = false
    /// Whether what bounds the case is measured as well.
    var measuresBound = true

    /// - Parameter number: Which run it is; runs on one ledger submit different purchases.
    func measure(number: Int = 0) async throws -> Measurement {
        try await BenchStage.with(
            scenario, binaries: binaries, workerBinaries: workerBinaries, ledger: ledger
        ) { stage in
            var source = try SubmissionSource(
                scenario, authority: stage.authority, first: (number + 1) * Self.numbersPerRun,
                isScattered: isScattered)
            if scenario.evidence == .signedTransaction, case .submissions(let count) = scenario.window {
                try source.prepare(count + Self.spareTransactions)
            }
            var measurement = try await load(source, stage)
            guard measuresBound else { return measurement }
            switch scenario.evidence {
            case .signedTransaction:
                measurement.rawVerificationMicroseconds = try RawVerification.microseconds()
            case .receipt:
                let cost = try await bareCost(source, stage)
                measurement.bareLoop = cost.loop
                measurement.hotCallMicroseconds = cost.hotMicroseconds
            }
            return measurement
        }
    }

    private func load(_ source: SubmissionSource, _ stage: BenchStage) async throws -> Measurement {
        let clients = try BenchClients(bootstrap: stage.bootstrap)
        let worker = try stage.startWorker()
        // Before the bound is measured: then nothing else runs.
        defer { worker.end() }
        var load = BenchLoad(clients: clients, source: source, maxAhead: scenario.maxAhead) { try worker.checkAlive() }
        // The first ones find a worker that still has to join its group.
        try await load.run(.submissions(1))
        try await load.run(.seconds(scenario.warmUpSeconds))
        let before = (answered: load.answered, worker: try worker.cpuSeconds(), standIn: try stage.standIn.cpuSeconds())
        let start = ContinuousClock.now
        try await load.run(scenario.window)
        let seconds = start.duration(to: .now) / .seconds(1)
        let answered = Double(load.answered - before.answered)
        var measurement = Measurement(
            receiptsPerSecond: answered / seconds,
            cpuMicrosecondsPerReceipt: (try worker.cpuSeconds() - before.worker) / answered * 1e6,
            peakMemoryMiB: try worker.peakMemoryMiB())
        if scenario.evidence == .receipt {
            measurement.standInMicroseconds = (try stage.standIn.cpuSeconds() - before.standIn) / answered * 1e6
        }
        await clients.close()
        return measurement
    }

    private func bareCost(_ source: SubmissionSource, _ stage: BenchStage) async throws -> BareCost {
        let calls = min(Self.bareCalls, scenario.ceiling.map { Int($0 * Self.bareSeconds) } ?? Self.bareCalls)
        return try await stage.bareCalls(
            calls, warmUp: scenario.inFlight * 2, hotCalls: scenario.latencyMilliseconds == 0 ? 3000 : 0,
            receipt: source.model)
    }
}
