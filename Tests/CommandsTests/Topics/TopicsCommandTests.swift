import CommandParser
import Kafka
import Testing

@testable import Commands

@Suite("Creating topics")
struct TopicsCommandTests {
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
                == "grantor: not all topics could be created at kafka:9092: _TRANSPORT: Connection refused\n")
    }

    @Test("A broker that is away is named")
    func away() {
        var grantor = grantor
        grantor.cluster.failure = FixedCluster.away
        let result = grantor("topics create")
        #expect(result.status == .failed && result.output.isEmpty)
        #expect(
            result.errors == "grantor: the topics cannot be created at kafka:9092: _TRANSPORT: Connection refused\n")
    }

    @Test(
        "Numbers that make no topic are bad usage",
        arguments: ["--partitions 0", "--partitions many", "--replicas 0", "--replicas -1"])
    func usage(options: String) {
        #expect(grantor("topics create \(options)").status == .usage)
    }
}
