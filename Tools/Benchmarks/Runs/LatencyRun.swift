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
    /// Before the clock counts.
    private static let warmUpSeconds = 5

    func figures() throws -> [Figure] {
        let stage = try Stage(programs, ledger: ledger, latency: 0, calls: 1000)
        let load = try Load(stage)
        try stage.startWorker()
        try load.submit(100, evidence)
        _ = try GrantedEvents.wait(stage, for: load, atMost: .seconds(60))
        let warmUp = load.sentAt.count + rate * Self.warmUpSeconds
        let made = try (0..<(rate * (Self.warmUpSeconds + seconds))).map { _ in try load.evidence(evidence) }
        Console.tell("\(rate) submissions a second, for \(seconds) s\n")
        Pace(rate: rate).run(made.count) { load.submit(made[$0]) }
        try load.flush()
        let events = try GrantedEvents.wait(stage, for: load, atMost: .seconds(60))
        let submissions = try GrantedEvents.submissions(stage)
        try stage.end()
        let names = (warmUp..<load.sentAt.count).map { ($0, Load.name($0)) }
        let taking = Percentiles(names.map { (submissions[$1] ?? .max) - load.sentAt[$0] })
        let times = Percentiles(names.map { (events.cameAt[$1] ?? .max) - (submissions[$1] ?? 0) })
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
struct Pace {
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
