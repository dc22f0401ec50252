import Contract
import Scheduling

/// Workers under a load that is all there when they go on.
struct Throughput {
    let programs: Programs
    var evidence = EvidenceKind.signed
    var ledger = LedgerKind.postgres
    var submissions: Int
    var workers = 1
    /// Milliseconds that Apple's replies take.
    var latency = 0
    /// Most calls to Apple at once, of each worker.
    var calls = 1000

    /// The measured values of one run.
    struct Sample {
        let submissions: Int
        /// Granted a second, until the last event.
        let rate: Double
        let times: CPUTimes
        /// Of the worker that had most, in MB.
        let memory: Double
        /// The open files and connections of the worker that had most.
        let descriptors: Int
        /// The part of the worker's CPU that cannot be spared, in microseconds: OpenSSL's verification or libcurl's
        /// call.
        let limit: Double

        /// Microseconds of CPU for each submission.
        func each(_ part: CPUTimes.Part) -> Double { times[part] * 1_000_000 / Double(submissions) }
    }

    /// - Parameter measuresLimit: Whether the limit is measured beside the workers.
    func measure(limit measuresLimit: Bool = true) throws -> Sample {
        let stage = try Stage(programs, ledger: ledger, latency: latency, calls: calls)
        let load = try Load(stage)
        // The start and the connections are paid with a first part.
        let first = workers * (evidence == .receipt ? 4 * calls : 5000)
        try load.submit(first + submissions, evidence)
        var limits = measuresLimit ? [try limit(stage, load)] : []
        Console.tell("\(first + submissions) submissions wait\n")
        for _ in 0..<workers { try stage.startWorker() }
        var before = 0
        try waitFor("the first grants", atMost: .seconds(120), every: 20) {
            before = try stage.count(of: .granted)
            return before >= first
        }
        let (start, used) = (WallClock.milliseconds, stage.cpuTimes)
        var descriptors = 0
        try waitFor("\(load.expected.count) grants", atMost: .seconds(600)) {
            descriptors = max(descriptors, stage.workers.map(\.descriptors).max() ?? 0)
            return try stage.count(of: .granted) >= load.expected.count
        }
        let times = stage.cpuTimes - used
        let events = try GrantedEvents.wait(stage, for: load, atMost: .seconds(60))
        let milliseconds = (events.cameAt.values.max() ?? start) - start
        let memory = stage.workers.map(\.peakMemory).max() ?? 0
        try stage.stopWorkers()
        if measuresLimit { limits.append(try limit(stage, load)) }
        try stage.end()
        let count = load.expected.count - before
        return Sample(
            submissions: count, rate: Double(count) * 1000 / Double(max(1, milliseconds)), times: times, memory: memory,
            descriptors: descriptors, limit: limits.reduce(0, +) / Double(max(1, limits.count)))
    }

    /// Measured before and after the workers.
    private func limit(_ stage: Stage, _ load: Load) throws -> Double {
        guard evidence == .receipt else { return try OpenSSLSpeed.verification() }
        // The same calls to the same server, over as many connections.
        let bodies = try (0..<(4 * calls + 10_000)).map { _ in try load.callBody() }
        return try LibcurlCalls(
            url: try stage.apple.address("productionURL"), caFile: try stage.apple.address("caFile"), bodies: bodies,
            connections: calls
        ).run()
    }
}
