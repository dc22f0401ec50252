import AppStoreSimulator
import Contract
import Kafka
import KafkaTesting
import PostgresTesting
import Scheduling

/// Workers on three brokers and a database with a standby, while all of these and Apple break by a schedule.
struct FleetRun: Run {
    static let sessionTimeout = Duration.seconds(6)
    private static let brokers = 3
    /// Time until all events are published once the last fault is over.
    private static let endLimit = Duration.seconds(120)
    /// One submission in so many has a receipt, and one comes twice, as producers do it.
    private static let (receiptEvery, twiceEvery) = (5, 10)
    let options: Options

    func run() throws -> Bool {
        // The mock has one broker, which forgets everything if it breaks.
        let brokers = TestKafka.isApache ? Self.brokers : 0
        if brokers == 0 { say("no broker will break: set KAFKA_HOME") }
        let needs = World.Needs(
            ledger: .postgres, brokers: max(1, brokers), hasStandby: true, hasSmallDisks: true,
            workersWithProxies: options.workers, sessionTimeout: Self.sessionTimeout)
        let world = try World(options, needs)
        try world.database?.waitForStandby()
        world.apple.behave(.init(latency: .fixed(milliseconds: Saboteur.latency)))
        let traffic = try Traffic(world)
        let fleet = try Fleet(world, workers: options.workers)
        let saboteur = try Saboteur(world, fleet)
        let schedule = Schedule(
            Schedule.Options(
                seed: options.seed, seconds: options.seconds, workers: options.workers, brokers: brokers,
                hasSmallDisks: !world.disks.isEmpty))
        if world.disks.isEmpty { say("no disk will be full: only root can make a small one") }
        say("seed \(options.seed): faults for \(options.seconds) s, \(options.submissions) submissions")
        let start = Instant.now
        let player = try FaultPlayer(schedule, saboteur, seconds: options.seconds)
        try send(traffic, start)
        let counts = try player.join()
        saboteur.disarm()
        tell(counts, since: start)
        return try judge(world, traffic, fleet)
    }

    /// Submissions come evenly for as long as faults do.
    private func send(_ traffic: Traffic, _ start: Instant) throws {
        for number in 0..<options.submissions {
            let due = start + .milliseconds(options.seconds * 1000 * number / options.submissions)
            rest(until: due)
            let name = "order-\(number)"
            if number % Self.receiptEvery == 0 {
                traffic.submit(name, try traffic.receipt(bytes: 4096))
            } else {
                try traffic.signed(name, app: number)
            }
            if number % Self.twiceEvery == 0 { traffic.sendAgain() }
        }
    }

    private func tell(_ counts: [FaultKind: Int], since start: Instant) {
        for part in FaultKind.Part.allCases {
            let kinds = FaultKind.allCases.filter { $0.part == part && counts[$0] != nil }
            let sum = kinds.reduce(0) { $0 + (counts[$1] ?? 0) }
            say("\(part.rawValue): \(sum) faults")
            for kind in kinds { say("  \(padded(kind.rawValue, 42)) \(counts[kind] ?? 0)") }
        }
        say("\(counts.values.reduce(0, +)) faults in \(seconds(since: start)) s")
    }

    private func judge(_ world: World, _ traffic: Traffic, _ fleet: Fleet) throws -> Bool {
        var report = Report()
        let start = Instant.now
        try traffic.flush()
        say("\(traffic.refused) submissions were refused by brokers, and sent again")
        try report.judge(world, traffic, fleet, since: start, within: Self.endLimit)
        return report.end(world)
    }
}
