/// How far a partition has come, at one moment.
struct PartitionStanding: Hashable, Sendable {
    /// A record that holds the watermark.
    struct Oldest: Hashable, Sendable {
        let offset: Int64
        /// By the clock that only goes forward.
        let admittedAt: Duration
    }

    let partition: TopicPartition
    /// Records read and without an outcome.
    let unfinished: Int
    /// The oldest of them; nil if there is none.
    let oldest: Oldest?
    /// Offset of the record that was read last.
    let lastRead: Int64?
    /// How old that record was when it was read.
    let readAge: Duration?
}
