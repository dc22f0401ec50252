import Contract
import Glibc
import KafkaScanning
import Scheduling

/// A worker joins two others under load, leaves, joins again and is killed: how long do partitions stand still?
struct RebalanceRun: Run {
    private static let sessionTimeout = Duration.seconds(10)
    private static let perSecond = 200
    /// Time that each change has.
    private static let step = Duration.seconds(20)

    private struct Change {
        let name: String
        /// Milliseconds for which a partition that stays with its worker may stand still; after a kill, any partition.
        let limit: Int64
        var start: Int64 = 0
        var end: Int64 = 0
        /// Partitions that stay.
        var stays: Set<Int32> = []
    }

    let options: Options

    func run() throws -> Bool {
        let world = try World(options, World.Needs(ledger: .postgres, sessionTimeout: Self.sessionTimeout))
        let traffic = try Traffic(world)
        var report = Report()
        var sent = 0
        func load(for length: Duration) throws {
            let until = Instant.now + length
            while Instant.now < until {
                let next = Instant.now + .milliseconds(100)
                for _ in 0..<(Self.perSecond / 10) {
                    try traffic.signed("order-\(sent)", app: sent)
                    sent += 1
                }
                rest(until: next)
            }
        }
        let others = try [start(0, world), start(1, world)]
        try load(for: Self.step)
        var joined = try start(2, world)
        var changes: [Change] = []
        func change(_ name: String, limit: Int64, _ act: () throws -> Void) throws {
            var change = Change(name: name, limit: limit)
            let before = owners(world)
            change.start = WallClock.milliseconds
            try act()
            try load(for: Self.step)
            change.end = WallClock.milliseconds
            change.stays = Set(owners(world).filter { before[$0.key] == $0.value }.keys)
            changes.append(change)
        }
        joined.end(by: SIGKILL)
        try load(for: Self.step)
        try change("a worker joins", limit: 1000) { joined = try start(2, world) }
        try change("a worker leaves", limit: 1000) { report.stop([joined]) }
        joined = try start(2, world)
        try load(for: Self.step)
        try change("a worker is killed", limit: 12_000) { joined.end(by: SIGKILL) }
        try traffic.flush()
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        _ = try judge.wait(.seconds(60))
        try tell(changes, world, judge, &report)
        report.stop(others)
        report.add(try judge.judge(ledger: world.ledger))
        return report.end(world)
    }

    /// Workers have names of their own in the group, and the default assignment.
    private func start(_ number: Int, _ world: World) throws -> ChildWorker {
        try world.start(number, adding: ["GRANTOR_KAFKA_GROUP_INSTANCE_ID": "worker-\(number)"])
    }

    /// The worker that writes for each partition, as the ledger has it.
    private func owners(_ world: World) -> [Int32: String] {
        let rows =
            LedgerTables(world.ledger).rows("SELECT partition, owner FROM partitions WHERE owner IS NOT NULL") ?? []
        return Dictionary(rows.compactMap { row in Int32(row[0]).map { ($0, row[1]) } }) { first, _ in first }
    }

    private func tell(_ changes: [Change], _ world: World, _ judge: TopicJudge, _ report: inout Report) throws {
        let told = try judge.times(.granted)
        var passages: [PartitionStops.Passage] = []
        try world.scan.read(topics: [Topic.submitted.defaultName]) { batch in
            for record in batch.records {
                guard let name = TopicJudge.member("submissionId", record.value), let toldAt = told[name],
                    let sentAt = record.timestamp?.milliseconds
                else { continue }
                passages.append(
                    PartitionStops.Passage(partition: batch.partition.partition, sentAt: sentAt, toldAt: toldAt))
            }
            return true
        }
        let stops = PartitionStops(passages)
        for change in changes {
            let longest = stops.longest(from: change.start, through: change.end)
            let stayed = longest.filter { change.stays.contains($0.key) }.values.max() ?? 0
            let moved = longest.filter { !change.stays.contains($0.key) }.values.max() ?? 0
            say(
                "\(change.name): \(change.stays.count) partitions that stay stood still for \(stayed) ms at most, "
                    + "\(longest.count - change.stays.count) that move for \(moved) ms")
            report.expect(stayed <= change.limit, "\(change.name): \(stayed) ms, more than \(change.limit)")
        }
    }
}
