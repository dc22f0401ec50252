import Glibc
import Scheduling

/// The time from a submission's record to its event, at a steady pace.
struct LatencyRun {
    let programs: Programs
    let evidence: EvidenceKind
    let ledger: LedgerKind
    /// Submissions a second.
    let rate: Int
    let seconds: Int
    /// Before the clock counts. For so long a broker's Java compiles itself, and most slow events would be its.
    private static let warmUpSeconds = 15

    func figures() throws -> [Figure] {
        let stage = try Stage(programs, ledger: ledger, latency: 0, calls: 1000)
        let load = try Load(stage)
        try stage.startWorker()
        try load.submit(100, evidence)
        _ = try GrantedEvents.wait(stage, for: load, atMost: .seconds(60))
        Console.tell("\(rate) submissions a second, for \(seconds) s\n")
        let numbers = try load.submit(evidence, rate: rate, seconds: Self.warmUpSeconds + seconds)
            .dropFirst(rate * Self.warmUpSeconds)
        let events = try GrantedEvents.wait(stage, for: load, atMost: .seconds(60))
        let submissions = try GrantedEvents.submissions(stage)
        try stage.end()
        let taking = Percentiles(numbers.map { (submissions[Load.name($0)] ?? .max) - load.sentAt[$0] })
        let times = events.times(of: numbers, since: submissions)
        return [
            Figure("half of the submissions taken within", taking.at(50), "ms"),
            Figure("99 of 100 submissions taken within", taking.at(99), "ms"),
            Figure("half of the events within", times.at(50), "ms"),
            Figure("99 of 100 events within", times.at(99), "ms", wanted: .atMost(15)),
            Figure("the slowest event", times.at(100), "ms"),
        ]
    }
}

/// Calls that come at even intervals, whatever each takes.
struct EvenPace {
    let rate: Int

    func run(_ count: Int, _ call: (Int) -> Void) {
        let start = Instant.now
        for number in 0..<count {
            let due = start + .nanoseconds(Int64(number) * 1_000_000_000 / Int64(rate))
            Self.wait(until: due)
            call(number)
        }
    }

    static func wait(until due: Instant) {
        let rest = (due - .now) / .microseconds(1)
        if rest > 0 { usleep(UInt32(rest)) }
    }
}
