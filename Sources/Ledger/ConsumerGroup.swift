public import Contract

/// A consumer group of a Kafka cluster, and the topics that its workers read and write. A ledger belongs to one: its
/// checkpoints are offsets of that cluster's topics, and its group reads on from them. The events of its waiting
/// submissions and of its outbox go to those topics.
public struct ConsumerGroup: Hashable, Sendable, CustomStringConvertible {
    public let name: String
    /// The cluster's id; nil where its brokers name none, or were not asked yet.
    public var cluster: String?
    /// The names of ``keptTopics``, in that order.
    public let topics: [String]

    /// The topics whose names a ledger keeps. The topic of pending events may get a name, and lose it, at any time: no
    /// outcome is only there.
    static let keptTopics: [Topic] = [.submitted, .granted, .failed, .quarantined]

    /// - Parameter topics: The name of each topic.
    public init(name: String, cluster: String?, topics: (Topic) -> String) {
        self.init(name: name, cluster: cluster, topics: Self.keptTopics.map(topics))
    }

    init(name: String, cluster: String?, topics: [String]) {
        self.name = name
        self.cluster = cluster
        self.topics = topics
    }

    public var description: String { "the group \(name)" + (cluster.map { " of the Kafka cluster \($0)" } ?? "") }

    /// Whether a ledger moves to another cluster with its new group. A cluster without a known id does not count as
    /// another one.
    public func isElsewhere(than other: ConsumerGroup) -> Bool {
        guard let cluster, let others = other.cluster else { return false }
        return cluster != others
    }

    /// Why a worker of this group cannot work with a ledger; nil if it can. One line for people.
    /// - Parameters:
    ///   - id: The ledger's.
    ///   - owner: The group that it belongs to.
    public func refusal(of id: String, owner: ConsumerGroup) -> String? {
        guard name != owner.name || isElsewhere(than: owner) || topics != owner.topics else { return nil }
        return "the ledger \(id) belongs to \(owner.words(beside: self)), and this worker is of "
            + "\(words(beside: owner)). Name this group's own ledger (GRANTOR_LEDGER_URL), or the ledger's group, "
            + "brokers and topics. To move the ledger on purpose, stop all of its workers and run with these settings: "
            + "grantor ledger accept \(id) --actor NAME --reason WHY"
    }

    /// The group, with those of its topics that have another name in the other group.
    private func words(beside other: ConsumerGroup) -> String {
        let own = zip(topics, other.topics).filter { $0 != $1 }.map(\.0)
        return own.isEmpty ? description : "\(self) with \(own.joined(separator: ", "))"
    }
}
