import Purchases

/// A submission's row with what operators do not see of it.
struct StoredSubmission {
    let row: SubmissionRow
    let fingerprint: String

    /// The settlement that gives it up.
    func abandoned(_ note: OperatorNote) -> Settlement {
        Settlement(
            claimant: row.claimant, fingerprint: fingerprint, origin: row.origin, receivedAt: row.receivedAt,
            attempts: row.attempts, history: row.history,
            decision: .fail(Rejection(.abandonedByOperator, note.reason, transactionID: row.transactionID)))
    }
}
