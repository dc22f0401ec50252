import Ledger
import Purchases

/// `grantor grants show` as a question to a ledger.
struct GrantQuestions: Sendable {
    let ledger: any LedgerReader
    let format: AnswerFormat

    /// The grants that a filter lets through, newest first.
    func show(_ filter: GrantFilter, page: Page) async throws(LedgerError) -> OperatorAnswer {
        let rows = try await ledger.grants(filter, before: page.before, limit: page.limit)
        let deliveries = try await ledger.deliveries(rows.map(\.eventID))
        let listing = GrantListing(rows: rows, deliveries: deliveries, next: page.next(after: rows.map(\.sequence)))
        guard !rows.isEmpty || format == .json else { return .notFound("no grants found") }
        return .found(format.render(json: listing.json) { listing.text(width: $0) })
    }
}
