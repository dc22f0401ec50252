import Processing

/// A driver's message for the core's thread.
enum CoreMail: Sendable {
    case input(Input)
    /// A reply that tells of a lost connection: the core knows of so many losses of that connection from now on. Its later
    /// calls carry the number, see ``LedgerThread``.
    case lost(LedgerRole, losses: Int, Input)
}

/// The two connections to the ledger, each on a thread of its own.
enum LedgerRole: String, Sendable {
    case write
    case side
}
