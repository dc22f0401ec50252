import Ledger
import Purchases

/// All that a ledger says, read at the end.
struct LedgerContents: Sendable {
    var submissions: [SubmissionRow] = []
    var grants: [GrantRow] = []
    var events: [EventRow] = []
    /// Entries of the outbox that were not published.
    var unpublished = 0

    /// Reads everything, page by page.
    static func read(_ ledger: some LedgerReader, page: Int) async throws(LedgerError) -> LedgerContents {
        var contents = LedgerContents()
        while true {
            let rows = try await ledger.submissions(
                SubmissionFilter(), before: contents.submissions.last?.sequence, limit: page)
            contents.submissions += rows
            if rows.count < page { break }
        }
        while true {
            let rows = try await ledger.grants(GrantFilter(), before: contents.grants.last?.sequence, limit: page)
            contents.grants += rows
            if rows.count < page { break }
        }
        while true {
            let rows = try await ledger.events(after: contents.events.last?.sequence ?? 0, limit: page)
            guard !rows.isEmpty else { break }
            contents.events += rows
        }
        contents.unpublished = try await ledger.counts().unpublished
        return contents
    }
}
