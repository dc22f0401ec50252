import Contract
import Kafka
import KafkaScanning
import KafkaTesting
import Scheduling

/// Faults of a run, each said once it is found.
struct Report {
    private(set) var faults = 0

    mutating func fault(_ text: String) {
        faults += 1
        say("FAULT \(text)")
    }

    mutating func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) {
        if !isTrue { fault(text()) }
    }

    /// Ends workers in order: each ends with 0 within the time that a stop has.
    mutating func stop(_ workers: [ChildWorker], within limit: Duration = .seconds(20)) {
        let start = Instant.now
        for worker in workers { worker.signal(15) }
        for worker in workers {
            guard let code = worker.ended(within: limit - (Instant.now - start)) else {
                fault("a worker still runs \(limit) after SIGTERM")
                worker.end(by: 9)
                continue
            }
            expect(code == 0, "a worker ended with \(code) after SIGTERM")
        }
    }

    /// Waits until all events are published and nothing is owed, ends a fleet, and judges the topics and the ledger.
    @discardableResult
    mutating func judge(
        _ world: World, _ traffic: Traffic, _ fleet: Fleet, since start: Instant, within limit: Duration
    ) throws -> TopicJudge {
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        let count = try judge.wait(limit)
        let tables = LedgerTables(world.ledger)
        // The rows of published events go a moment later.
        look(every: 500, for: limit) { tables.count("outbox") == 0 && tables.count("retries") == 0 }
        say("\(count) of \(traffic.expected.count) are told \(seconds(since: start)) s after the last fault")
        for text in fleet.faults { fault(text) }
        stop(fleet.workers)
        add(try judge.judge(ledger: world.ledger))
        try expectAllRead(world)
        return judge
    }

    mutating func add(_ verdict: TopicJudge.Verdict) {
        for text in verdict.faults { say("FAULT \(text)") }
        faults += verdict.found
        say("\(verdict.lost) lost, \(verdict.twice) twice, \(verdict.untold) untold")
        say(
            "\(verdict.events) granted events, \(verdict.copies) of them copies; \(verdict.failures) failed ones; "
                + "\(verdict.pending) submissions told to wait")
    }

    /// The group has committed the end of every partition. Its workers have stopped.
    mutating func expectAllRead(_ world: World) throws {
        let admin = KafkaAdmin(configuration: world.kafka.client, logger: world.logger)
        let ends = try admin.offsets(of: [Topic.submitted.defaultName]).mapValues(\.upperBound)
        let committed = try admin.committedOffsets(of: world.group, in: Array(ends.keys))
        for (partition, end) in ends.sorted(by: { $0.key < $1.key }) where end != committed[partition] ?? 0 {
            fault("\(partition): \(committed[partition].map(String.init) ?? "nothing") is committed of \(end)")
        }
    }

    /// Stops the brokers, and deletes the run's files unless somebody may need them.
    func end(_ world: World) -> Bool {
        world.close()
        say("\(faults) faults")
        if faults == 0 { removeFolder(world.folder) } else { say("files: \(world.folder)") }
        return faults == 0
    }
}
