/// One thing that an audit has seen, in 32 bytes. All facts of one name meet once they are sorted.
struct Fact: Hashable, Comparable, Sendable, BitwiseCopyable {
    enum Kind: UInt8, Sendable {
        // Rows of grants and answers whose event stands under this name.
        /// Its event must be on the topic.
        case row
        /// The outbox owes its event.
        case owedRow
        /// The outbox owes its fulfilment call first.
        case callOwedRow
        /// Its record was not complete when the audit began, or that is not known.
        case openRow
        /// Its event may have left the topic again, or nobody could look at the topic.
        case goneRow
        /// The event's bytes cannot be made: they are a later version's, or had ids of a user who was erased.
        case unknownRow
        /// A record of a topic of events.
        case copy
        // A submission's, what it needs before what needs it.
        case outcome
        case record
        // A partition and offset of the input topic, in the same order.
        case quarantined
        case unreadable
        case purchase
    }

    /// Partitions of all audited topics, and offsets or sequences: what fits beside the kind.
    static let mostPartitions = 1 << 14
    static let mostNumber: Int64 = 1 << 45

    let key: AuditKey
    /// Kind, partition and number, in this order of weight.
    private let mark: UInt64
    /// Of the content that is compared.
    let digest: UInt64

    /// - Parameters:
    ///   - partition: The number of a record's partition; of a row, its table.
    ///   - number: The record's offset; the row's sequence.
    init(_ key: AuditKey, _ kind: Kind, partition: Int = 0, number: Int64 = 0, digest: UInt64 = 0) {
        self.key = key
        self.digest = digest
        mark = UInt64(kind.rawValue) << 59 | UInt64(partition) << 45 | UInt64(number)
    }

    var kind: Kind { Kind(rawValue: UInt8(mark >> 59)) ?? .copy }
    var partition: Int { Int(mark >> 45 & UInt64(Self.mostPartitions - 1)) }
    var number: Int64 { Int64(mark & UInt64(Self.mostNumber - 1)) }

    static func < (left: Self, right: Self) -> Bool {
        left.key == right.key ? left.mark < right.mark : left.key < right.key
    }
}
