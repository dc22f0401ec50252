import Glibc
import Kafka
import KafkaTesting
import Testing

@Suite(.serialized)
struct RebalanceTests {
    static let strategies = ["range", "cooperative-sticky"]
    private let kafka: TestKafka

    init() throws { kafka = try TestKafka.shared }

    /// Every partition is granted to and read by exactly one of the members that take part.
    private static func isDivided(_ group: TestGroup, _ members: [Int], partitions: Int) -> Bool {
        let shares = members.map { group.members[$0] }
        return shares.allSatisfy { !$0.granted.isEmpty && $0.granted == $0.read }
            && shares.reduce(0) { $0 + $1.granted.count } == partitions
            && shares.reduce(into: Set()) { $0.formUnion($1.granted) }.count == partitions
    }

    @Test("Members join, leave and join again; each partition always ends up with one of them", arguments: strategies)
    func joinAndLeave(strategy: String) throws {
        let topic = try kafka.makeTopic(partitions: 6)
        let group = try TestGroup(kafka, topic: topic)
        try group.join(strategy: strategy)
        try group.serve { Self.isDivided($0, [0], partitions: 6) }
        try group.join(strategy: strategy)
        try group.join(strategy: strategy)
        try group.serve { Self.isDivided($0, [0, 1, 2], partitions: 6) }
        try group.stop(1)
        try group.serve { Self.isDivided($0, [0, 2], partitions: 6) }
        try TestProducer.fill(kafka, topic, 0..<600)
        try group.serve { $0.members[0].count + $0.members[2].count == 600 }
        #expect(Set(group.members[0].values + group.members[2].values).count == 600)
        #expect(group.members.allSatisfy { $0.lost == 0 })
    }

    @Test(
        "The group goes on dividing while no partition can be taken over; afterwards all are read",
        arguments: strategies)
    func lockedLedger(strategy: String) throws {
        let topic = try kafka.makeTopic(partitions: 6)
        let group = try TestGroup(kafka, topic: topic)
        try group.join(strategy: strategy)
        try group.serve { Self.isDivided($0, [0], partitions: 6) }
        group.isLedgerOpen = false
        try group.join(strategy: strategy)
        try group.serve { !$0.members[1].granted.isEmpty }
        try group.join(strategy: strategy)
        try group.serve {
            $0.members.allSatisfy { !$0.granted.isEmpty } && $0.members.reduce(0) { $0 + $1.granted.count } == 6
        }
        try group.stop(0)
        try group.serve { $0.members[1].granted.count + $0.members[2].granted.count == 6 }
        #expect(group.members[1].read.isEmpty && group.members[2].read.isEmpty)
        try TestProducer.fill(kafka, topic, 0..<600)
        group.isLedgerOpen = true
        try group.serve { $0.members[1].count + $0.members[2].count == 600 }
        #expect(Self.isDivided(group, [1, 2], partitions: 6))
        #expect(group.members.allSatisfy { $0.lost == 0 })
    }

    @Test("A take-over that comes after the partition was taken away reads nothing", arguments: strategies)
    func lateTakeOver(strategy: String) throws {
        let topic = try kafka.makeTopic(partitions: 2)
        try TestProducer.fill(kafka, topic, 0..<100)
        let group = try TestGroup(kafka, topic: topic)
        group.isLedgerOpen = false
        try group.join(strategy: strategy)
        try group.serve { $0.members[0].granted.count == 2 }
        let before = group.members[0].granted
        try group.join(strategy: strategy)
        try group.serve { $0.members[0].granted.count == 1 && $0.members[1].granted.count == 1 }
        // The core had asked the ledger for both.
        group.assign(0, before)
        try group.serve { $0.members[0].count > 0 }
        group.members[0].consumer.fetchCommitted(Array(before))
        try group.serve { if case .committedOffsets = $0 { true } else { nil } }
        #expect(Set(group.members[0].records.keys) == group.members[0].granted)
    }

    @Test("The partitions of a member that is killed go to the others when its session ends", arguments: strategies)
    func killed(strategy: String) async throws {
        let topic = try kafka.makeTopic(partitions: 6)
        let group = try TestGroup(kafka, topic: topic)
        try group.join(strategy: strategy)
        try group.serve { Self.isDivided($0, [0], partitions: 6) }
        let victim = Victim(servers: kafka.bootstrapServers, topic: topic, group: group.group, strategy: strategy)
        await #expect(processExitsWith: .signal(SIGKILL)) { [victim = victim as Victim] in
            victim.run()
        }
        try group.join(strategy: strategy)
        try group.serve { Self.isDivided($0, [0, 1], partitions: 6) }
    }

    /// A member in a process of its own that is killed as soon as it has partitions.
    struct Victim: Codable, Sendable {
        let servers: String
        let topic: String
        let group: String
        let strategy: String

        func run() {
            let properties = [
                "partition.assignment.strategy": strategy, "session.timeout.ms": "6000",
                "heartbeat.interval.ms": "500",
            ]
            let consumer = try? KafkaConsumer(
                configuration: KafkaConsumerConfiguration(
                    client: KafkaClientConfiguration(bootstrapServers: servers, properties: properties),
                    groupID: group, topics: [topic]),
                logger: .silent
            ) { event in
                if case .assigned = event { kill(getpid(), SIGKILL) }
            }
            consumer?.join()
        }
    }

    @Test(
        "A member that the group took for dead is told that its partitions are lost, and gets others",
        arguments: strategies)
    func frozen(strategy: String) throws {
        let kafka = try TestKafka()
        defer { kafka.stop() }
        let topic = try kafka.makeTopic(partitions: 2)
        let group = try TestGroup(kafka, topic: topic)
        // Not longer than need be: the test waits until it is over.
        try group.join(strategy: strategy, ["session.timeout.ms": "6000"])
        try group.serve { Self.isDivided($0, [0], partitions: 2) }
        // Nobody answers for longer than the session; the group has another coordinator afterwards, or lost its
        // members.
        try kafka.kill()
        try group.serve { $0.members[0].lost > 0 }
        #expect(group.members[0].granted.isEmpty)
        try kafka.restart()
        try group.serve { Self.isDivided($0, [0], partitions: 2) }
    }

    @Test(
        "A stop in the middle of a join, and one of a member without partitions, come to an end", arguments: strategies)
    func stopWhileJoining(strategy: String) throws {
        let topic = try kafka.makeTopic()
        let group = try TestGroup(kafka, topic: topic)
        try group.join(strategy: strategy)
        try group.stop(0)
        try group.join(strategy: strategy)
        try group.serve { $0.members[1].granted.count == 1 }
        try group.join(strategy: strategy)
        try group.stop(2)
        try group.stop(1)
        // All have left: the next one need not wait for a session to end.
        try group.join(strategy: strategy)
        try group.serve { $0.members[3].granted.count == 1 }
    }
}
