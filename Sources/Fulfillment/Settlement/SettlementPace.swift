/// When the next transaction begins: at once while few fates come, and after a rest while many do.
///
/// A transaction costs the same whether it holds eight fates or eighty: a write to the disk, and a dozen wake-ups on its
/// way. Answers that come evenly, 4,000 in a second, would each find the ledger idle and be written eight at a time.
struct SettlementPace: Sendable {
    /// Fates in a transaction from which on many come. So that a rest alone, which gathers some, does not make itself needed:
    /// at fewer than 2,500 in a second none follows another.
    static let many = 16
    /// Fates that are worth a transaction of their own, however soon after the last.
    static let enough = 64
    /// From the end of a transaction to the beginning of the next.
    static let rest: Duration = .milliseconds(5)

    private var last = 0

    /// A transaction ended.
    mutating func settled(_ count: Int) {
        last = count
    }

    /// How long to wait before the next; nil for not at all.
    ///
    /// - Parameter waiting: fates that are there by now.
    func pause(waiting: Int) -> Duration? {
        last >= Self.many && waiting < Self.enough ? Self.rest : nil
    }
}
