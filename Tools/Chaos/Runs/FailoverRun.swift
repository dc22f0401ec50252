import Contract
import PostgresTesting
import Scheduling

/// The database is killed again and again, and a standby that lacks its latest grants replaces it.
struct FailoverRun: Run {
    private static let workers = 2
    /// Grants that the standby lacks at least.
    private static let leastLost = 10
    /// Submissions a second as a rule.
    private static let perSecond = 50
    private static let limit = Duration.seconds(60)
    let options: Options

    func run() throws -> Bool {
        let world = try World(options, World.Needs(ledger: .postgres, hasStandby: true))
        guard var primary = world.database, var standby = world.standby else { throw ChaosFailure("no standby") }
        let traffic = try Traffic(world)
        let fleet = try Fleet(world, workers: Self.workers)
        var report = Report()
        var sent = 0
        func send(_ count: Int) throws {
            for _ in 0..<count {
                try traffic.signed("order-\(sent)", app: sent)
                sent += 1
            }
        }
        let start = Instant.now
        for number in 1...max(1, options.promotions) {
            try send(2 * Self.perSecond)
            try traffic.flush()
            let (source, copy) = (tables(primary), tables(standby))
            // A standby that knew no partition would be an empty ledger, which workers refuse.
            let follows = look(every: 100, for: Self.limit) {
                let count = copy.count("grants")
                return count > 0 && count == source.count("grants") && Self.follows(primary)
            }
            guard follows else { throw ChaosFailure("the standby does not follow, or nothing is granted") }
            try primary.holdReplication()
            let isAhead = try look(every: 100, for: Self.limit) {
                try send(Self.perSecond / 10)
                return source.count("grants") - max(0, copy.count("grants")) >= Self.leastLost
            }
            guard isAhead else {
                report.fault("promotion \(number): no grants that the standby lacks")
                break
            }
            let had = source.grants()
            // Writes are under way.
            try send(Self.perSecond)
            try primary.kill()
            let kept = copy.grants()
            let lost = had.keys.count { kept[$0] == nil }
            report.expect(lost > 0, "promotion \(number) lost nothing")
            try standby.promote()
            say("after \(seconds(since: start)) s: promotion \(number) lost \(lost) of \(had.count) grants")
            try send(Self.perSecond)
            (primary, standby) = (standby, primary)
            try standby.follow(primary)
        }
        try traffic.flush()
        return try judge(world, traffic, fleet, primary, &report)
    }

    private func tables(_ server: PostgresServer) -> LedgerTables { LedgerTables(server.url(database: "grantor")) }

    private static func follows(_ primary: PostgresServer) -> Bool {
        let sql = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND replay_lsn IS NOT NULL"
        return (try? primary.run(sql)) == "1"
    }

    private func judge(
        _ world: World, _ traffic: Traffic, _ fleet: Fleet, _ primary: PostgresServer, _ report: inout Report
    ) throws -> Bool {
        var judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        judge.mayBeWrittenAnew = true
        let start = Instant.now
        let count = try judge.wait(.seconds(120))
        // A grant that a ledger lacks is read again, and granted again.
        let last = tables(primary)
        look(every: 500, for: .seconds(120)) {
            last.count("grants") >= traffic.expected.count && last.count("outbox") == 0 && last.count("retries") == 0
        }
        say(
            "\(count) of \(traffic.expected.count) are told and granted \(seconds(since: start)) s after the last promotion"
        )
        for fault in fleet.faults { report.fault(fault) }
        report.stop(fleet.workers)
        report.add(try judge.judge(ledger: primary.url(database: "grantor")))
        try report.expectAllRead(world)
        return report.end(world)
    }
}
