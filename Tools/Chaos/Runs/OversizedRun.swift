import Contract
import Glibc
import Kafka
import KafkaScanning
import KafkaTesting
import Scheduling

/// Unreadable records that the quarantine topic refuses, for their size or because the worker may not write there.
/// Once each is quarantined come purchases under the same keys.
struct OversizedRun: Run {
    static let toldLimit: Int64 = 5000
    private static let bytes = 1_900_000
    private static let records = 1000
    private static let purchases = 500
    let options: Options

    func run() throws -> Bool {
        guard TestKafka.isApache else { throw ChaosFailure("only Apache Kafka refuses records: set KAFKA_HOME") }
        let world = try World(
            options,
            World.Needs(properties: [
                .submitted: ["max.message.bytes": "4194304"], .quarantined: ["max.message.bytes": "1048576"],
            ]))
        let topic = Topic.quarantined.defaultName
        if options.refusal == .right { try world.kafka.denyWriting(topic) }
        let traffic = try Traffic(world)
        var report = Report()
        var worker = try world.start()
        // Random bytes, so that no compression makes them fit.
        var garbage = (0..<Self.bytes).map { _ in UInt8.random(in: 0...255, using: &world.random) }
        for number in 0..<Self.records {
            garbage[number % 100] &+= 1
            traffic.send(key: "player-\(number)", value: garbage)
        }
        try traffic.flush()
        let start = Instant.now
        say("\(Self.records) records of \(Self.bytes) bytes are there")
        try waitForQuarantine(world, &report)
        say("the last of them is quarantined after \(seconds(since: start)) s")
        for number in 0..<(Self.purchases / 2) { try traffic.signed("order-\(number)", user: "player-\(number)") }
        try traffic.flush()
        var judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        say("\(try judge.wait(.seconds(120))) of \(Self.purchases / 2) granted")
        let peak = worker.peakMemory
        report.stop([worker])
        worker = try world.start()
        rest(milliseconds: 4000)
        for number in (Self.purchases / 2)..<Self.purchases {
            try traffic.signed("order-\(number)", user: "player-\(number)")
        }
        try traffic.flush()
        judge = TopicJudge(expected: traffic.expected, scan: world.scan, quarantined: Self.records)
        say("\(try judge.wait(.seconds(60))) of \(Self.purchases) granted, by a worker started again")
        let (sent, told) = (try judge.times(.submitted), try judge.times(.granted))
        for (name, numbers) in [
            ("after the last record", 0..<(Self.purchases / 2)),
            ("after a restart", (Self.purchases / 2)..<Self.purchases),
        ] {
            let times = Latencies(
                numbers.compactMap { number in
                    sent["order-\(number)"].map { (told["order-\(number)"] ?? .max) - $0 }
                })
            say("\(name): \(times.text)")
            report.expect(times.at(1) <= Self.toldLimit, "purchases \(name) wait: \(times.text)")
        }
        say("memory was at most \(peak) MB, of a worker started again \(worker.peakMemory) MB")
        report.expect(max(peak, worker.peakMemory) <= options.memory, "memory is above \(options.memory) MB")
        try look(every: 500, for: .seconds(120)) {
            try quarantined(world) >= Self.records && LedgerTables(world.ledger).count("outbox") == 0
        }
        report.stop([worker])
        report.add(try judge.judge(ledger: world.ledger))
        return report.end(world)
    }

    /// Waits until the topic has each record or its stub. A right that lacks is given once the worker tells of it.
    private func waitForQuarantine(_ world: World, _ report: inout Report) throws {
        if options.refusal == .right {
            let isTold = look(every: 500, for: .seconds(60)) {
                world.log().contains("Kafka does not take quarantined records")
            }
            report.expect(isTold, "the worker does not tell within a minute that it lacks the right")
            try world.kafka.allowWriting(Topic.quarantined.defaultName)
        }
        let isOver = try look(every: 500, for: .seconds(180)) { try quarantined(world) >= Self.records }
        report.expect(isOver, "not every record is quarantined within three minutes")
    }

    private func quarantined(_ world: World) throws -> Int {
        var count = 0
        try world.scan.read(topics: [Topic.quarantined.defaultName]) { batch in
            count += batch.records.count
            return true
        }
        return count
    }
}
