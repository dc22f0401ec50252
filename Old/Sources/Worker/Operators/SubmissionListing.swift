import Ledger
import Purchases

/// A page of submissions, for people and as JSON.
struct SubmissionListing: Sendable {
    let rows: [SubmissionRow]
    /// Where the next page begins; nil after the last.
    let next: Int64?

    func text(width: Int?) -> String {
        let table = TextTable(
            header: ["SUBMISSION", "APP", "OUTCOME", "REASON", "USER", "ORDER", "TRIES", "SETTLED"],
            rows: rows.map { row in
                [
                    row.claimant.submissionID.rawValue, row.claimant.bundleID.rawValue, row.outcome.rawValue,
                    row.reason ?? "-", row.claimant.userID.rawValue, row.claimant.orderID?.rawValue ?? "-",
                    String(row.attempts), row.settledAt.rfc3339,
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

/// A submission as JSON.
struct SubmissionJSON: Encodable {
    let submissionId, bundleId, userId: String
    let orderId, traceparent: String?
    let outcome: String
    let transactionId, reason, detail: String?
    let attempts: Int
    let receivedAt, settledAt: String
    let topic: String
    let partition: Int32
    let offset: Int64
    let eventIds: [String]
    let history: [AttemptJSON]

    init(_ row: SubmissionRow) {
        submissionId = row.claimant.submissionID.rawValue
        bundleId = row.claimant.bundleID.rawValue
        userId = row.claimant.userID.rawValue
        orderId = row.claimant.orderID?.rawValue
        traceparent = row.claimant.traceparent
        outcome = row.outcome.rawValue
        transactionId = row.transactionID?.rawValue
        reason = row.reason
        detail = row.detail
        attempts = row.attempts
        receivedAt = row.receivedAt.rfc3339
        settledAt = row.settledAt.rfc3339
        topic = row.origin.topic
        partition = row.origin.partition
        offset = row.origin.offset
        eventIds = row.eventIDs.map(\.rawValue)
        history = row.history.attempts.map { AttemptJSON($0) }
    }
}

/// A try that decided nothing, as JSON.
struct AttemptJSON: Encodable {
    let at, cause, detail: String

    init(_ attempt: Attempt) {
        at = attempt.at.rfc3339
        cause = attempt.cause
        detail = attempt.detail
    }
}
