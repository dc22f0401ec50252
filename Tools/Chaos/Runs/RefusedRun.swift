import Contract
import KafkaTesting
import Scheduling

/// The topic of grants refuses every event by its size for a while.
struct RefusedRun: Run {
    let options: Options

    func run() throws -> Bool {
        guard TestKafka.isApache else { throw ChaosFailure("only Apache Kafka refuses by size: set KAFKA_HOME") }
        let world = try World(options, World.Needs(properties: [.granted: ["max.message.bytes": "200"]]))
        let traffic = try Traffic(world)
        var report = Report()
        let worker = try world.start()
        for number in 0..<options.submissions { try traffic.signed("order-\(number)", app: number) }
        try traffic.flush()
        rest(milliseconds: options.seconds * 1000)
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        let before = try judge.granted()
        report.expect(before == 0, "\(before) events came through")
        let rows = LedgerTables(world.ledger).count("grants")
        let owed = LedgerTables(world.ledger).count("outbox")
        say("\(rows) of \(options.submissions) are granted in the ledger, \(owed) owed")
        report.expect(rows == options.submissions, "grants wait for the topic: \(rows) rows")
        try world.kafka.setTopicProperty(Topic.granted.defaultName, "max.message.bytes", "1048576")
        let start = Instant.now
        let count = try judge.wait(.seconds(180))
        say("\(count) of \(options.submissions) are told \(seconds(since: start)) s after the topic takes events again")
        say("a worker's memory was at most \(worker.peakMemory) MB")
        // The last rows are reported as published.
        rest(milliseconds: 2000)
        report.stop([worker])
        report.add(try judge.judge(ledger: world.ledger))
        return report.end(world)
    }
}
