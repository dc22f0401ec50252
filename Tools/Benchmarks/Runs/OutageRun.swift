import PostgresTesting
import Scheduling

/// A fleet while verifyReceipt is away, with many receipts that wait for it, and after its return.
struct OutageRun {
    let programs: Programs
    let workers: Int
    /// Receipts that wait.
    let receipts: Int
    /// How long Apple is away once they wait.
    let seconds: Int
    /// Signed transactions a second meanwhile.
    private static let rate = 20
    /// Milliseconds of Apple's replies when it is back, and most calls of each worker.
    private static let (latency, calls) = (100, 100)

    func figures() throws -> [Figure] {
        let stage = try Stage(
            programs, ledger: .postgres, latency: Self.latency, calls: Self.calls,
            // 200,000 receipts are more than the default has room for.
            settings: ["GRANTOR_MAX_RETRY_BYTES": "8GiB"])
        let load = try Load(stage)
        for _ in 0..<workers { try stage.startWorker() }
        try load.submit(1000, .signed)
        _ = try GrantedEvents.wait(stage, for: load, atMost: .seconds(120))
        try stage.apple.stop()
        try load.submit(receipts, .receipt)
        Console.tell("\(receipts) receipts are submitted\n")
        try waitFor("\(receipts) waiting receipts", atMost: .seconds(600), every: 2000) {
            try stage.database?.run("SELECT count(*) FROM retries", database: "grantor") == "\(receipts)"
        }
        Console.tell("they wait; Apple stays away for \(seconds) s\n")
        let (start, before) = (Instant.now, stage.cpuTimes)
        let numbers = try load.submit(.signed, rate: Self.rate, seconds: seconds)
        let (away, length) = (stage.cpuTimes - before, (Instant.now - start) / .seconds(1))
        try stage.apple.start(latency: Self.latency)
        let (back, atReturn) = (WallClock.milliseconds, stage.cpuTimes)
        Console.tell("Apple is back\n")
        let events = try GrantedEvents.wait(stage, for: load, atMost: .seconds(600))
        let recovery = stage.cpuTimes - atReturn
        try stage.end()
        let signed = Percentiles(numbers.map { (events.cameAt[Load.name($0)] ?? .max) - load.sentAt[$0] })
        let end = events.cameAt.values.max() ?? back
        return [
            Figure("away: PostgreSQL", away[.postgres] / length * 100, "% of a core", wanted: .atMost(10)),
            Figure("away: all workers", away[.worker] / length * 100, "% of a core"),
            Figure("away: half of the signed transactions within", signed.at(50), "ms"),
            Figure("away: 99 of 100 signed transactions within", signed.at(99), "ms", wanted: .atMost(1000)),
            Figure("back: PostgreSQL", recovery[.postgres] / Double(receipts) * 1_000_000, "us each"),
            Figure("back: all workers", recovery[.worker] / Double(receipts) * 1_000_000, "us each"),
            Figure("back: machine, others", recovery.othersShare * 100, "%", wanted: .atMost(8)),
            Figure("back: all receipts granted within", Double(end - back) / 1000, "s", wanted: .atMost(120)),
        ]
    }
}
