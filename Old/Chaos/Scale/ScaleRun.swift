import AppStoreSimulator
import Foundation
import Ledger
import Purchases
import SystemTesting

/// How much faster more workers are, and what a rebalance costs those who keep their partitions.
struct ScaleRun: Sendable {
    /// What a run is asked for.
    struct Options: Sendable {
        /// What Apple takes for each call.
        var latencyMilliseconds = 250
        /// Of each worker.
        var inFlight = 250
        /// In which is measured.
        var length = Duration.seconds(20)
        /// Of the input topic.
        var partitions = 48
        var strategy: String?
    }

    /// Before anything is measured: groups settle, caches and connections warm up.
    static let warmUp = Duration.seconds(5)

    let options: Options
    let folder: URL

    /// Settled submissions per second with so many workers.
    func throughput(workers: Int) async throws -> Double {
        let stage = try await stage(workers: workers)
        let (start, end) = try await run(stage, workers: workers) { length in try await Task.sleep(for: length) }
        let settled = try await settlements(stage).filter { $0.settledAt >= start && $0.settledAt < end }
        try await stage.close()
        return Double(settled.count) * 1000 / Double(max(end - start, 1))
    }

    /// What one worker more does to two that are at work.
    func rebalance() async throws -> RebalanceCost {
        let workers = 2
        let stage = try await stage(workers: workers + 1)
        var joined: Int64 = 0
        let (start, end) = try await run(stage, workers: workers) { length in
            try await Task.sleep(for: length / 2)
            joined = SystemTime.milliseconds
            try await stage.fleet.start(workers)
            try await Task.sleep(for: length / 2)
        }
        let passages = try await settlements(stage)
        let logs = (0..<workers).map { place in
            AssignmentLog(Self.log(of: place, in: folder).lines)
        }
        let kept = logs.reduce(into: Set<Int32>()) { kept, log in
            kept.formUnion(log.partitions(at: joined).intersection(log.partitions(at: end)))
        }
        let all = PartitionStops.longest(passages, from: joined, through: end)
        let before = PartitionStops.longest(passages, from: start, through: joined)
        try await stage.close()
        return RebalanceCost(
            strategy: options.strategy ?? "range", kept: kept.count,
            longestKept: all.first { kept.contains($0.partition) }?.milliseconds ?? 0,
            longestMoved: all.first { !kept.contains($0.partition) }?.milliseconds ?? 0,
            longestBefore: before.first?.milliseconds ?? 0)
    }

    private func stage(workers: Int) async throws -> ChaosStage {
        var stageOptions = ChaosStage.Options()
        stageOptions.workers = workers
        stageOptions.extraWorkers = 0
        stageOptions.partitions = options.partitions
        stageOptions.latency = .fixed(milliseconds: options.latencyMilliseconds)
        stageOptions.environment = ["GRANTOR_MAX_IN_FLIGHT": String(options.inFlight)]
        if let strategy = options.strategy {
            stageOptions.environment["GRANTOR_KAFKA_ASSIGNMENT_STRATEGY"] = strategy
        }
        return try await ChaosStage.start(stageOptions, in: folder)
    }

    /// Runs workers under load while `body` goes on for the length that it is given.
    ///
    /// - Returns: from when until when was measured, in milliseconds since 1970.
    private func run(
        _ stage: ChaosStage, workers: Int, body: (Duration) async throws -> Void
    ) async throws -> (start: Int64, end: Int64) {
        let ceiling = Double(workers * options.inFlight * 1000 / options.latencyMilliseconds)
        let length = Self.warmUp + options.length
        let count = Int(ceiling * (length / .seconds(1))) + ScaleLoad.ahead
        let load = try await ScaleLoad.make(count, by: stage.apple.writer)
        let ledger = try await stage.database.open()
        let watching = Task { await stage.fleet.watch() }
        defer { watching.cancel() }
        let interruption = Interruption(ending: stage.fleet)
        defer { withExtendedLifetime(interruption) {} }
        for place in 0..<workers { try await stage.fleet.start(place) }
        let client = stage.broker.client
        // Joining the group takes longer than the load is to last otherwise.
        try await ready(stage, workers: workers)
        async let loading = load.submit(for: length, to: client, watching: ledger)
        try await Task.sleep(for: Self.warmUp)
        let start = SystemTime.milliseconds
        try await body(options.length)
        let end = SystemTime.milliseconds
        _ = try await loading
        for place in 0..<stage.database.proxies.count { try await stage.fleet.stop(place) }
        await ledger.close()
        return (start, end)
    }

    /// Waits until the partitions are dealt out.
    private func ready(_ stage: ChaosStage, workers: Int) async throws {
        let files = (0..<workers).map { Self.log(of: $0, in: folder) }
        try await eventually("all partitions are assigned", within: .seconds(60)) {
            let owned = files.map { AssignmentLog($0.lines).partitions(at: .max).count }
            return owned.allSatisfy { $0 > 0 } && owned.reduce(0, +) == options.partitions ? true : nil
        }
    }

    /// What the first process in a place writes.
    private static func log(of place: Int, in folder: URL) -> OutputFile {
        OutputFile(folder.appending(path: "worker-\(place + 1)-1.err"))
    }

    /// When each submission was settled, by its worker's clock, which is this machine's. All arrive long before.
    private func settlements(_ stage: ChaosStage) async throws -> [PartitionStops.Passage] {
        let ledger = try await stage.database.open()
        var passages: [PartitionStops.Passage] = []
        var before: Int64?
        while true {
            let rows = try await ledger.submissions(
                SubmissionFilter(), before: before, limit: PostgresLedger.maxPage)
            passages += rows.map {
                PartitionStops.Passage(
                    partition: $0.origin.partition, sentAt: 0, settledAt: $0.settledAt.milliseconds)
            }
            guard rows.count == PostgresLedger.maxPage else { break }
            before = rows.last?.sequence
        }
        await ledger.close()
        return passages
    }
}

/// How long partitions stood still while one worker more joined, in milliseconds.
struct RebalanceCost: Sendable {
    let strategy: String
    /// Partitions that stayed with their worker.
    let kept: Int
    /// The longest stop of one that stayed.
    let longestKept: Int64
    /// The longest stop of one that moved.
    let longestMoved: Int64
    /// The longest stop of any, before.
    let longestBefore: Int64
}
