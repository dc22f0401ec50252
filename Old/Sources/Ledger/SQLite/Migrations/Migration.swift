/// One step of the schema. Steps are numbered without gaps, applied in order, and never edited once released.
///
/// The SQL is part of the program, not a file beside it, so that a binary that was moved alone still migrates.
struct Migration: Sendable {
    /// The schema version that the step leads to.
    let version: Int
    let sql: String

    static let all = [ledger001, deliveries002, waitingIndexes003, transactionsOnce004]

    /// The schema this program reads and writes.
    static let latestVersion = all.count
}
