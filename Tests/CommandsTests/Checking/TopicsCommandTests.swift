import CommandParser
import Contract
import Kafka
import Testing

@testable import Commands

@Suite("Creating topics")
struct TopicsCommandTests {
    private let remedy = "; nobody listens there: correct the port, or start the broker\n"

    private var grantor: SampleRun

    init() throws {
        grantor = try SampleRun()
        grantor.environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = "kafka:9092"
    }

    @Test("Missing topics are created, and others stay as they are")
    func create() {
        var grantor = grantor
        grantor.cluster.topics["purchases.granted"] = .present(FixedCluster.partitions())
        let result = grantor("topics create --partitions 6")
        #expect(
            result.output == """
                receipts.submitted: created with 6 partitions and 3 replicas
                purchases.granted: exists, and stays as it is
                purchases.failed: created with 6 partitions and 3 replicas
                receipts.quarantined: created with 6 partitions and 3 replicas

                """)
        let created = grantor.cluster.created.all
        #expect(created.map(\.name) == ["receipts.submitted", "purchases.failed", "receipts.quarantined"])
        #expect(created.allSatisfy { $0.partitions == 6 && $0.replicas == 3 })
        #expect(created.allSatisfy { $0.configuration["min.insync.replicas"] == "2" })
        #expect(
            created.map { $0.configuration["message.timestamp.type"] } == ["LogAppendTime", nil, nil])
    }

    @Test("A single broker has single copies, and an option says otherwise")
    func replicas() {
        var grantor = grantor
        grantor.cluster.brokers = 1
        #expect(
            grantor("topics create").output.hasPrefix("receipts.submitted: created with 12 partitions and 1 replica\n"))
        #expect(grantor("topics create --replicas 2").status == .done)
        #expect(grantor.cluster.created.all.map(\.replicas) == [1, 1, 1, 1, 2, 2, 2, 2])
    }

    @Test("A topic that is refused keeps no other from being created")
    func refused() {
        var grantor = grantor
        grantor.cluster.creationFailures["purchases.failed"] = FixedCluster.away
        let result = grantor("topics create")
        #expect(result.status == .failed)
        #expect(result.output.contains("purchases.failed: not created\n"))
        #expect(
            result.errors
                == "grantor: not all topics could be created at kafka:9092: _TRANSPORT: Connection refused\(remedy)")
    }

    @Test("A topic that somebody else has just made is no failure")
    func madeMeanwhile() {
        var grantor = grantor
        grantor.cluster.creationFailures["purchases.failed"] = FixedCluster.topicExists
        let result = grantor("topics create")
        #expect(result.status == .done && result.errors.isEmpty)
        #expect(result.output.contains("purchases.failed: exists, and stays as it is\n"))
    }

    @Test("A broker that is away is named")
    func away() {
        var grantor = grantor
        grantor.cluster.failure = FixedCluster.away
        let result = grantor("topics create")
        #expect(result.status == .failed && result.output.isEmpty)
        #expect(
            result.errors
                == "grantor: the topics cannot be created at kafka:9092: _TRANSPORT: Connection refused\(remedy)")
    }

    @Test(
        "Numbers that make no topic are bad usage",
        arguments: ["--partitions 0", "--partitions many", "--replicas 0", "--replicas -1"])
    func usage(options: String) {
        #expect(grantor("topics create \(options)").status == .usage)
    }
}

@Suite("Requirements on topics")
struct TopicRequirementsTests {
    private func finding(
        on topic: Topic = .submitted, _ partitions: KafkaClusterDescription.Partitions = FixedCluster.partitions(),
        _ changes: [String: String] = [:], brokers: Int = 3
    ) -> TopicRequirements.Finding {
        let properties = TopicRequirements.configuration(of: topic, replicas: 3).merging(changes) { $1 }
        return TopicRequirements.finding(on: topic, partitions, properties, brokers: brokers)
    }

    @Test("A topic as it is created is as it should be", arguments: Topic.allCases)
    func created(topic: Topic) {
        #expect(finding(on: topic) == TopicRequirements.Finding())
    }

    @Test("New topics ask for two copies in sync, as far as there are two")
    func newTopics() {
        #expect(TopicRequirements.configuration(of: .granted, replicas: 3)["min.insync.replicas"] == "2")
        #expect(TopicRequirements.configuration(of: .granted, replicas: 1)["min.insync.replicas"] == "1")
        for topic in Topic.allCases {
            #expect(TopicRequirements.configuration(of: topic, replicas: 3)["cleanup.policy"] == "delete")
        }
    }

    @Test("One copy is a failure where a second broker could have another")
    func oneCopy() {
        let single = FixedCluster.partitions(replicas: 1, inSync: 1)
        let minimum = ["min.insync.replicas": "1"]
        #expect(finding(single, minimum).failures == ["one copy, which is lost with its broker"])
        let alone = finding(single, minimum, brokers: 1)
        #expect(alone.failures.isEmpty && alone.warnings == ["one copy, on the only broker"])
    }

    @Test("Writes that one broker alone acknowledges are a failure")
    func minimumInSync() {
        #expect(
            finding(FixedCluster.partitions(), ["min.insync.replicas": "1"]).failures
                == ["min.insync.replicas is 1: a write may be lost with its broker"])
        #expect(
            finding(FixedCluster.partitions(), ["min.insync.replicas": "3"]).warnings
                == ["min.insync.replicas is 3: no broker may be away"])
        #expect(
            finding(FixedCluster.partitions(inSync: 1)).failures
                == ["only 1 replicas in sync, so that writes are refused"])
    }

    @Test(
        "A leader that may lack acknowledged records is a failure, where there are several copies",
        arguments: Topic.allCases)
    func uncleanElection(topic: Topic) {
        let unclean = ["unclean.leader.election.enable": "true"]
        #expect(
            finding(on: topic, FixedCluster.partitions(), unclean).failures == [
                "unclean.leader.election.enable is true: a replica that lacks acknowledged records may become the leader; set false"
            ])
        let alone = FixedCluster.partitions(replicas: 1, inSync: 1)
        #expect(
            finding(on: topic, alone, unclean.merging(["min.insync.replicas": "1"]) { $1 }, brokers: 1).failures.isEmpty
        )
        #expect(TopicRequirements.configuration(of: topic, replicas: 3)["unclean.leader.election.enable"] == "false")
    }

    @Test("Partitions without a leader, compaction and short retention are failures")
    func others() {
        #expect(finding(FixedCluster.partitions(leaderless: 2)).failures == ["2 partitions without a leader"])
        #expect(
            finding(FixedCluster.partitions(), ["cleanup.policy": "compact,delete"]).failures
                == ["cleanup.policy is compact, which drops records of the same user"])
        #expect(
            finding(FixedCluster.partitions(), ["retention.ms": "86400000"]).failures
                == ["retention.ms is less than 7 days"])
        #expect(
            finding(on: .granted, FixedCluster.partitions(), ["retention.ms": "86400000"]).failures
                == ["retention.ms is less than 3 days"])
        #expect(finding(FixedCluster.partitions(), ["retention.ms": "-1"]).failures.isEmpty)
        #expect(
            finding(FixedCluster.partitions(), ["retention.bytes": "1000"]).warnings
                == ["retention.bytes drops records by size, however young they are"])
    }

    @Test("Producers' clocks must not say when a submission was made; other topics may have any time")
    func times() {
        let producers = ["message.timestamp.type": "CreateTime"]
        #expect(
            finding(FixedCluster.partitions(), producers).warnings == [
                "message.timestamp.type is CreateTime: producers' clocks say which subscriptions were over; set LogAppendTime"
            ])
        #expect(finding(on: .granted, FixedCluster.partitions(), producers).warnings.isEmpty)
    }

    @Test("The quarantine topic must take the largest record of the input")
    func sizes() {
        let small = compared(.quarantined, ["max.message.bytes": "1048588"], ["max.message.bytes": "2000000"])
        #expect(small.failures.count == 1)
        #expect(small.failures[0].hasPrefix("max.message.bytes is 1048588, below the 2000000 of the input"))
    }

    @Test("Topics as they are made have nothing against each other", arguments: Topic.outputs)
    func suited(topic: Topic) {
        #expect(compared(topic) == TopicRequirements.Finding())
        let untold = TopicRequirements.Found(FixedCluster.partitions(), [:])
        var finding = TopicRequirements.Finding()
        TopicRequirements.compare(topic, untold, untold, &finding)
        #expect(finding == TopicRequirements.Finding())
    }

    @Test("Events are kept as safely and as long as the submissions that they answer")
    func worseThanTheInput() {
        #expect(compared(.granted, replicas: 2).warnings.map { $0.hasPrefix("2 replicas, below the 3") } == [true])
        let brief = compared(.failed, ["retention.ms": "600000000"]).warnings
        #expect(brief.map { $0.hasPrefix("retention.ms is below the input's") } == [true])
        #expect(compared(.failed, ["retention.ms": "600000000"], ["retention.ms": "-1"]).warnings.count == 1)
        #expect(compared(.failed, ["retention.ms": "-1"], ["retention.ms": "-1"]).warnings.isEmpty)
        #expect(
            compared(.granted, ["max.message.bytes": "65536"]).warnings
                == ["max.message.bytes is 65536: events may be larger; set 262144 or more"])
    }

    private func compared(
        _ topic: Topic, _ changes: [String: String] = [:], _ inputChanges: [String: String] = [:], replicas: Int = 3
    ) -> TopicRequirements.Finding {
        let found = TopicRequirements.Found(
            FixedCluster.partitions(replicas: replicas),
            TopicRequirements.configuration(of: topic, replicas: 3).merging(changes) { $1 })
        let input = TopicRequirements.Found(
            FixedCluster.partitions(),
            TopicRequirements.configuration(of: .submitted, replicas: 3).merging(inputChanges) { $1 })
        var finding = TopicRequirements.Finding()
        TopicRequirements.compare(topic, found, input, &finding)
        return finding
    }
}
