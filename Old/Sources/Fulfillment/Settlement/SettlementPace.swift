/// When the next transaction begins: at once while few fates come, and with the next beat while many do.
///
/// A transaction costs the same whether it holds eight fates or eighty: a write to the disk, and a dozen wake-ups on its
/// way, in the ledger and at the broker. Answers that come evenly, 4,000 in a second, would each find the ledger idle and be
/// written eight at a time.
struct SettlementPace: Sendable {
    /// Fates in a second from which on many come.
    static let many = 2500.0
    /// For how long they are counted before that is said. Long enough that a burst is no rate.
    static let period: Duration = .milliseconds(100)
    /// Fates that are worth a transaction of their own, however soon after the last.
    static let enough = 64
    /// From the beginning of a transaction to that of the next. One that takes as long by itself, as with a slow disk or a
    /// server far away, gathers as much without a rest.
    static let beat: Duration = .milliseconds(16)

    private var counted = 0
    private var countedSince = Duration.zero
    private var manyCome = false
    private var began = Duration.zero

    /// A transaction begins.
    mutating func begins(with count: Int, at elapsed: Duration) {
        began = elapsed
        counted += count
        let time = elapsed - countedSince
        guard time >= Self.period else { return }
        manyCome = Double(counted) >= Self.many * (time / .seconds(1))
        counted = 0
        countedSince = elapsed
    }

    /// How long to wait before the next; nil for not at all.
    ///
    /// - Parameters:
    ///   - waiting: fates that are there by now.
    ///   - held: submissions in the window, those with a fate among them. Where they are few, the rest would keep them from
    ///     making room for the next.
    func pause(waiting: Int, held: Int, at elapsed: Duration) -> Duration? {
        guard manyCome, waiting < Self.enough, held >= 2 * Self.enough, elapsed < began + Self.beat else { return nil }
        return began + Self.beat - elapsed
    }
}
