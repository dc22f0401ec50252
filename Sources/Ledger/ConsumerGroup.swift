/// A consumer group of a Kafka cluster. A ledger belongs to one: its checkpoints are offsets of that cluster's topics,
/// and its group reads on from them. Its outbox is for that cluster, too.
public struct ConsumerGroup: Hashable, Sendable, CustomStringConvertible {
    public let name: String
    /// The cluster's id; nil where its brokers tell none, or where nobody has asked them yet.
    public let cluster: String?

    public init(name: String, cluster: String?) {
        self.name = name
        self.cluster = cluster
    }

    public var description: String { "the group \(name)" + (cluster.map { " of the Kafka cluster \($0)" } ?? "") }

    /// Whether a ledger moves to another cluster with its new group. A cluster that is not told is no other one.
    public func isElsewhere(than other: ConsumerGroup) -> Bool {
        guard let cluster, let others = other.cluster else { return false }
        return cluster != others
    }

    /// Why a worker of this group cannot work with a ledger; nil if it can. One line for people.
    /// - Parameters:
    ///   - id: The ledger's.
    ///   - owner: The group that it belongs to.
    public func refusal(of id: String, owner: ConsumerGroup) -> String? {
        guard name != owner.name || isElsewhere(than: owner) else { return nil }
        return "the ledger \(id) belongs to \(owner), and this worker is of \(self). Name this group's own ledger "
            + "(GRANTOR_LEDGER_URL), or the ledger's group and brokers. To move the ledger on purpose, stop all of its "
            + "workers and run with these settings: grantor ledger accept \(id) --actor NAME --reason WHY"
    }
}
