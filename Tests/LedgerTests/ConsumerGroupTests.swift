import Ledger
import Testing

@Suite struct ConsumerGroupTests {
    private let owner = ConsumerGroup(name: "grantor", cluster: "cluster-1")

    @Test(
        "A worker of the group in the ledger's cluster works with it, and so does one whose cluster is not told",
        arguments: ["cluster-1", nil])
    func own(cluster: String?) {
        #expect(ConsumerGroup(name: "grantor", cluster: cluster).refusal(of: "ledger-1", owner: owner) == nil)
        let untold = ConsumerGroup(name: "grantor", cluster: nil)
        #expect(owner.refusal(of: "ledger-1", owner: untold) == nil)
    }

    @Test(
        "A worker of another group or cluster is told both, and what to do, in one line",
        arguments: [("another", "cluster-1"), ("another", nil), ("grantor", "cluster-2")])
    func foreign(name: String, cluster: String?) throws {
        let group = ConsumerGroup(name: name, cluster: cluster)
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

    @Test("A group without a told cluster has its name alone")
    func words() { #expect(ConsumerGroup(name: "grantor", cluster: nil).description == "the group grantor") }
}
