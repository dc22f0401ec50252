import Contract
import Testing

@testable import Ledger

@Suite struct ConsumerGroupTests {
    private static func group(
        _ name: String = "grantor", cluster: String? = "cluster-1", names: [Topic: String] = [:]
    ) -> ConsumerGroup {
        ConsumerGroup(name: name, cluster: cluster) { names[$0] ?? $0.defaultName }
    }

    private let owner = group()

    @Test(
        "A worker of the group in the ledger's cluster works with it, and so does one whose cluster is not told",
        arguments: ["cluster-1", nil])
    func own(cluster: String?) {
        #expect(Self.group(cluster: cluster).refusal(of: "ledger-1", owner: owner) == nil)
        #expect(owner.refusal(of: "ledger-1", owner: Self.group(cluster: nil)) == nil)
    }

    @Test(
        "A worker of another group or cluster is told both, and what to do, in one line",
        arguments: [("another", "cluster-1"), ("another", nil), ("grantor", "cluster-2")])
    func foreign(name: String, cluster: String?) throws {
        let group = Self.group(name, cluster: cluster)
        let line = try #require(group.refusal(of: "ledger-1", owner: owner))
        #expect(
            line.hasPrefix(
                "the ledger ledger-1 belongs to the group grantor of the Kafka cluster cluster-1, and this worker is of "
                    + "\(group). "))
        #expect(line.contains("GRANTOR_LEDGER_URL"))
        #expect(
            line.hasSuffix(
                "stop all of its workers and run with these settings: "
                    + "grantor ledger accept ledger-1 --actor NAME --reason WHY"))
        #expect(!line.contains("\n"))
    }

    @Test(
        "A worker that reads or writes another topic is told the names that differ", arguments: ConsumerGroup.keptTopics
    )
    func topic(_ topic: Topic) throws {
        let group = Self.group(cluster: nil, names: [topic: "others"])
        let line = try #require(group.refusal(of: "ledger-1", owner: owner))
        #expect(
            line.hasPrefix(
                "the ledger ledger-1 belongs to the group grantor of the Kafka cluster cluster-1 with "
                    + "\(topic.defaultName), and this worker is of the group grantor with others. "))
    }

    @Test("The topic of pending events may have any name, or none: no outcome is told there alone")
    func pending() {
        #expect(Self.group(names: [.pending: "others"]).refusal(of: "ledger-1", owner: owner) == nil)
    }

    @Test("Names that two topics have exchanged are no longer the ledger's")
    func exchanged() throws {
        let group = Self.group(names: [.granted: "purchases.failed", .failed: "purchases.granted"])
        let line = try #require(group.refusal(of: "ledger-1", owner: owner))
        #expect(line.contains("with purchases.granted, purchases.failed, and this worker is of"))
        #expect(line.contains("with purchases.failed, purchases.granted. "))
    }

    @Test("A group without a told cluster has its name alone")
    func words() { #expect(Self.group(cluster: nil).description == "the group grantor") }
}
