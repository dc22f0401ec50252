import Contract
import Glibc
import PostgresTesting
import Scheduling

/// Another database stands under the ledger's URL: a backup of it, an empty ledger, another one's ledger.
struct ReplacedRun: Run {
    private static let workers = 2
    private static let limit = Duration.seconds(60)
    let options: Options

    func run() throws -> Bool {
        let world = try World(options, World.Needs(ledger: .postgres))
        guard let server = world.database else { throw ChaosFailure("no database") }
        let traffic = try Traffic(world)
        var report = Report()
        try grant("before", world, traffic)
        try server.run("CREATE DATABASE backup TEMPLATE grantor")
        try server.run("CREATE DATABASE another TEMPLATE grantor")
        try server.run("UPDATE ledger SET id = 'L' || id", database: "another")

        let fleet = try Fleet(world, workers: Self.workers)
        try send("since-the-backup", traffic)
        try wait(world, traffic)
        try replace(server, by: "backup")
        try send("after-the-backup", traffic)
        try wait(world, traffic)
        waitForRows(world, traffic)
        for fault in fleet.faults { report.fault(fault) }
        report.stop(fleet.workers)
        var judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        judge.mayBeWrittenAnew = true
        say("a backup of the ledger took its place while workers ran")
        report.add(try judge.judge(ledger: world.ledger))

        for (name, text) in [("another", "another ledger"), ("empty", "an empty ledger")] {
            try refuse(name, text, world, server, traffic, &report)
        }
        return report.end(world)
    }

    /// Running workers must end with 78. So must new workers beside an empty ledger, until an operator accepts it by
    /// its id. They cannot tell a ledger with the group's partitions, as another group's may have them, from the right
    /// one.
    private func refuse(
        _ name: String, _ text: String, _ world: World, _ server: PostgresServer, _ traffic: Traffic,
        _ report: inout Report
    ) throws {
        if name == "empty" { try server.run("CREATE DATABASE empty") }
        let running = try world.start(1)
        try send("before-\(name)", traffic)
        try wait(world, traffic)
        try replace(server, by: name)
        if name == "empty", try world.command(["migrate"]) != 0 { throw ChaosFailure("no ledger can be made") }
        try send("beside-\(name)", traffic)
        let new = name == "empty" ? [(try world.start(2), "new")] : []
        for (worker, which) in [(running, "running")] + new {
            let code = worker.ended(within: Self.limit)
            let end = code.map { "ended with \($0)" } ?? "runs on"
            say("beside \(text) a \(which) worker \(end)")
            report.expect(code == 78, "beside \(text) a \(which) worker \(end)")
            if code == nil { worker.end(by: SIGKILL) }
        }
        let id = try server.run("SELECT id FROM ledger", database: "grantor") ?? ""
        let accepted = try world.command(["ledger", "accept", "--actor", "chaos", "--reason", "replaced", id])
        report.expect(accepted == 0, "accepting \(text) ended with \(accepted.map(String.init) ?? "a signal")")
        let worker = try world.start(3)
        try send("with-\(name)", traffic)
        try wait(world, traffic)
        report.stop([worker])
    }

    /// Puts a database in the ledger's place. Sessions with the ledger end.
    private func replace(_ server: PostgresServer, by name: String) throws {
        try server.run("ALTER DATABASE grantor ALLOW_CONNECTIONS false")
        try server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'grantor'")
        let isFree = look(every: 50, for: Self.limit) {
            do {
                try server.run("ALTER DATABASE grantor RENAME TO before_\(name)")
                return true
            } catch {
                // A session has not ended yet.
                return false
            }
        }
        guard isFree else { throw ChaosFailure("the ledger cannot be renamed") }
        try server.run("ALTER DATABASE \(name) RENAME TO grantor")
    }

    private func grant(_ name: String, _ world: World, _ traffic: Traffic) throws {
        let worker = try world.start()
        try send(name, traffic)
        try wait(world, traffic)
        if worker.end(by: SIGTERM) != 0 { throw ChaosFailure("the worker does not end in order") }
    }

    private func send(_ name: String, _ traffic: Traffic) throws {
        for number in 0..<(options.submissions / 10) { try traffic.signed("\(name)-\(number)", app: number) }
        try traffic.flush()
    }

    private func wait(_ world: World, _ traffic: Traffic) throws {
        let count = try TopicJudge(expected: traffic.expected, scan: world.scan).wait(Self.limit)
        say("\(count) of \(traffic.expected.count) are told")
        // A checkpoint is written once a second.
        rest(milliseconds: 2500)
    }

    private func waitForRows(_ world: World, _ traffic: Traffic) {
        look(every: 500, for: Self.limit) { LedgerTables(world.ledger).count("grants") >= traffic.expected.count }
    }
}
