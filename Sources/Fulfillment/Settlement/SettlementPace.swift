/// When the next transaction begins: at once while few fates come, and after a rest while many do.
///
/// A transaction costs the same whether it holds eight fates or eighty: a write to the disk, and a dozen wake-ups on its
/// way. Answers that come evenly, 4,000 in a second, would each find the ledger idle and be written eight at a time.
struct SettlementPace: Sendable {
    /// Fates in a transaction from which on many come. A rest, which gathers some by itself, must not make itself needed: below
    /// some 2,700 in a second none follows another.
    static let many = 16
    /// Fates that are worth a transaction of their own, however soon after the last.
    static let enough = 64
    /// From the beginning of a transaction to that of the next. One that takes as long by itself, as with a slow disk or a
    /// server far away, gathers as much without a rest.
    static let beat: Duration = .milliseconds(6)

    private var last = 0
    private var took = Duration.zero

    /// A transaction ended.
    ///
    /// - Parameter took: from its beginning to its end.
    mutating func settled(_ count: Int, took: Duration) {
        last = count
        self.took = took
    }

    /// How long to wait before the next; nil for not at all.
    ///
    /// - Parameter waiting: fates that are there by now.
    func pause(waiting: Int) -> Duration? {
        guard last >= Self.many, waiting < Self.enough, took < Self.beat else { return nil }
        return Self.beat - took
    }
}
