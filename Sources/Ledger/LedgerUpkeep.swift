public import Contract

/// The work of operators on many rows of a ledger, piece by piece. Each call is one transaction, short enough for
/// workers beside it; a command makes many of them and may be stopped between any two.
public protocol LedgerUpkeep: AnyObject {
    /// The places of a table's first and last row; nil while it is empty.
    func span(of table: DecidedTable) throws(LedgerError) -> ClosedRange<Int64>?

    /// When the first row of some places was decided, imported ones left out; nil where there is none.
    func firstDecision(
        in table: DecidedTable, _ places: ClosedRange<Int64>
    ) throws(LedgerError) -> Timestamp?

    /// The events of decided rows, in the order of their places, for who wants them told again.
    func events(_ query: DecidedQuery) throws(LedgerError) -> EventPage

    /// Adds grants of another system, see ``GrantImport``, each unless its transaction or its key is
    /// taken. No event tells them, and no call is owed.
    /// - Parameters:
    ///   - grants: At most ``GrantImport/most``, of one file.
    ///   - isTrial: Nothing is written: the results say what the ledger has already.
    /// - Returns: One result for each, in order.
    func add(imported grants: [Grant], isTrial: Bool) throws(LedgerError) -> [ImportResult]

    /// Deletes the answers of some places that were given before a moment. One whose event the outbox owes stays, and
    /// one of a submission that operators have acted on: an erasure finds their actions by it.
    /// - Parameter isTrial: Nothing is deleted.
    /// - Returns: How many were or would be deleted.
    func prune(
        _ places: ClosedRange<Int64>, before: Timestamp, isTrial: Bool
    ) throws(LedgerError) -> Int

    /// Replaces a user's ids by pseudonyms in at most ``Erasure/most`` grants, and deletes as many of the user's
    /// answers; all answers go before the first grant. Purchases keep their keys, so nothing can be granted again.
    /// Nothing is changed while a submission of the user's waits, while something is owed to the user, or while no
    /// checkpoint has passed a record of the user's. Grants that only a later version can read stay, and are counted.
    /// - Parameter note: The operator who does it, and why; nil for a trial, which changes nothing.
    func erase(_ erasure: Erasure, _ note: OperatorNote?) throws(LedgerError) -> ErasureResult
}
