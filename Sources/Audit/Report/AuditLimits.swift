import Ledger

/// The bounds of an audit.
enum AuditLimits {
    /// Inconsistencies that are kept; all of them are counted.
    static let kept = 100_000
    /// Facts that do not fit and are looked at again. Of more only the first are, and the rest was not looked at.
    static let suspicions = 200_000
    /// Rows of the outbox whose keys are kept in memory, 40 bytes each.
    static let owed = 1_000_000
    /// Facts in memory of each of the two threads that read, 32 bytes each.
    static let facts = 2_000_000
    /// Rows of a page.
    static let page = 1_000
    /// Time that a row of the outbox may be due.
    static let overdue: Duration = .seconds(15 * 60)
    /// How far clocks may be apart, and how long an event may be on its way to its topic.
    static let tolerance: Duration = .seconds(10 * 60)
    /// How far the order of rows may differ from that of their times.
    static let disorder = DecidedTable.mostDisorder
    /// Bytes of an event's subject that is shown.
    static let subject = 1_024
    /// Contents of one offset of the input topic that are compared.
    static let contents = 64
}
