import Contract
import Ledger

/// The demo's view of the ledger, once the workers have stopped.
struct LedgerContent {
    private static let pageSize = 1000

    /// Users that a transaction was granted to; more than one row means that it was granted twice.
    let grants: [TransactionID: [UserID]]
    let failed: Int
    /// Submissions that wait for another attempt or for a person.
    let waiting: Int
    /// Rows of the outbox.
    let owed: Int

    init(_ ledger: any LedgerOperator) throws(LedgerError) {
        var grants: [TransactionID: [UserID]] = [:]
        var query = GrantQuery(limit: Self.pageSize)
        while true {
            let page = try ledger.grants(query)
            for row in page { grants[row.grant.transactionID, default: []].append(row.grant.userID) }
            guard let last = page.last, page.count == Self.pageSize else { break }
            query.before = last.sequence
        }
        self.grants = grants
        failed = try ledger.submissions(SubmissionQuery(state: .failed, limit: Self.pageSize)).count
        waiting =
            try ledger.submissions(SubmissionQuery(state: .retrying, limit: Self.pageSize)).count
            + ledger.submissions(SubmissionQuery(state: .held, limit: Self.pageSize)).count
        owed = try ledger.outbox(limit: Self.pageSize).count
    }
}
