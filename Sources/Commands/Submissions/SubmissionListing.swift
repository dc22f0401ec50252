import Contract
import Ledger

/// A page of submissions, for people and as JSON.
struct SubmissionListing: Sendable {
    let rows: [SubmissionRow]
    /// Where the next page begins; nil after the last.
    let next: Int64?

    func text(width: Int?) -> String {
        guard !rows.isEmpty else { return "No submissions.\n" }
        let table = TextTable(
            header: ["SUBMISSION", "APP", "STATE", "CAUSE", "USER", "ORDER", "ATTEMPTS", "AT", "DUE"],
            rows: rows.map { row in
                [
                    row.claimant.submissionID.rawValue, row.claimant.bundleID.rawValue, row.state.rawValue,
                    row.cause ?? "-", row.claimant.userID.rawValue, row.claimant.orderID?.rawValue ?? "-",
                    String(row.attempts), row.at.rfc3339, row.dueAt?.rfc3339 ?? "-",
                ]
            }, keepsFirst: true)
        return table.text(maxWidth: width) + (next.map { "More: --before \($0)\n" } ?? "")
    }

    var json: JSON { JSON(submissions: rows.map { SubmissionJSON($0) }, next: next) }

    struct JSON: Encodable {
        let submissions: [SubmissionJSON]
        let next: Int64?
    }
}

/// A submission of a list as JSON.
struct SubmissionJSON: Encodable {
    let submissionId, bundleId, userId: String
    let orderId: String?
    let state: String
    let cause, transactionId: String?
    let attempts: Int
    let at: String
    let dueAt: String?
    let origin: OriginJSON

    init(_ row: SubmissionRow) {
        submissionId = row.claimant.submissionID.rawValue
        bundleId = row.claimant.bundleID.rawValue
        userId = row.claimant.userID.rawValue
        orderId = row.claimant.orderID?.rawValue
        state = row.state.rawValue
        cause = row.cause
        transactionId = row.transactionID?.rawValue
        attempts = row.attempts
        at = row.at.rfc3339
        dueAt = row.dueAt?.rfc3339
        origin = OriginJSON(row.origin)
    }
}
