public import Purchases

/// An event to publish, with its place in the ledger's order.
///
/// The outbox is a log: sequences rise in the order in which transactions are committed, and none comes in later below one
/// that was read. So what is published is one number, and the few exceptions to it.
public struct OutboxEntry: Hashable, Sendable {
    public let sequence: Int64
    /// What is published: for a copy that was asked for, the event as it was written first.
    public let event: Event

    /// An entry of the outbox.
    public init(sequence: Int64, event: Event) {
        self.sequence = sequence
        self.event = event
    }
}

/// What a batch came to.
public struct SettleResult: Hashable, Sendable {
    /// One per settlement, in their order.
    public let outcomes: [SettledOutcome]
    /// The entries that the call added to the outbox, in order and without gaps. Nil if copies were among them: whoever
    /// wants those reads the outbox.
    public let added: [OutboxEntry]?
    /// The deliveries that the call opened and that a worker has by its settlement's order, in order.
    public let opened: [Delivery]

    /// The end of a settling call.
    public init(outcomes: [SettledOutcome], added: [OutboxEntry]?, opened: [Delivery] = []) {
        self.outcomes = outcomes
        self.added = added
        self.opened = opened
    }
}

/// A worker as the ledger knows it, by what it has taken: one name per process, never used again.
public struct WorkerID: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// 1 to 64 characters.
    public let text: String

    /// A worker's name.
    public init(_ text: String) {
        self.text = text
    }

    public init(stringLiteral text: String) {
        self.init(text)
    }

    public var description: String { text }
}

/// What a worker begins with that has the relay.
public struct RelayTurn: Hashable, Sendable {
    /// All entries up to here were acknowledged, but for the withheld ones.
    public let publishedThrough: Int64
    /// All of them, in ledger order.
    public let withheld: [OutboxEntry]

    /// Most entries that are withheld at a time. A relay that would withhold more waits instead.
    public static let maxWithheld = 1000

    /// Where publishing stands.
    public init(publishedThrough: Int64, withheld: [OutboxEntry]) {
        self.publishedThrough = publishedThrough
        self.withheld = withheld
    }
}

/// What was published since the last note.
public struct RelayNote: Hashable, Sendable {
    /// All entries up to here were acknowledged or are withheld. Never lower than before.
    public var through: Int64
    /// Entries up to `through` that the broker refused, or that wait behind a refused one of their key.
    public var withhold: [Int64]
    /// Withheld entries that are acknowledged by now.
    public var release: [Int64]

    /// A note.
    public init(through: Int64, withhold: [Int64] = [], release: [Int64] = []) {
        self.through = through
        self.withhold = withhold
        self.release = release
    }
}
