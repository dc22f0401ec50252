/// Why the ledger could not do what it was asked. Each case says what its caller does.
public enum LedgerError: Error, Hashable, Sendable {
    /// Busy, locked, full, an I/O error: try the whole call again after a while. Hold everything meanwhile.
    case unavailable(String)
    /// The ledger is damaged, or lost a setting that durability rests on: stop, and stay stopped.
    case damaged(String)
    /// The schema is newer than this program: stop and say so.
    case schemaAhead(found: Int, known: Int)
    /// The schema is missing or older: migrate first.
    case schemaBehind(found: Int, known: Int)
    /// The ledger's place cannot be used (wrong path, no ledger there, no permission, wrong credentials): stop and name
    /// it. Comes from opening, and from a ledger that was closed.
    case unusable(String)
}
