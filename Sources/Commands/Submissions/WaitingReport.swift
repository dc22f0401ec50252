import Contract
import Ledger

/// A row of `retries`, for people and as JSON.
struct WaitingReport: Sendable {
    let row: RetryRow

    func text() -> String {
        let (word, cause, endpoint) = words
        var fields = SubmissionReport.claim(row.submission.claimant, row.submission.origin)
        fields += [
            ("received", row.submission.receivedAt.rfc3339), ("cause", cause), ("detail", row.entry.detail),
            ("attempts", String(row.attempts)),
            (row.isLeased ? "tried now, until" : "tried next", row.dueAt.rfc3339),
        ]
        if let endpoint { fields.append(("endpoint", endpoint)) }
        if let doubt = row.entry.doubt {
            fields.append(("doubt", "\(doubt.answers) doubting answers in \(doubt.elapsed / 1000) s"))
        }
        var text = "\(word)\n" + TextFields(fields: fields).text()
        let attempts = row.entry.history.attempts
        if !attempts.isEmpty {
            text += "\nAttempts that decided nothing\n"
            text += TextFields(fields: attempts.map { ($0.at.rfc3339, "\($0.cause): \($0.detail)") }).text()
        }
        return text
    }

    private var words: (state: String, cause: String, endpoint: String?) {
        switch row.entry.cause {
        case .retrying(let cause, let endpoint): ("Retrying", cause.rawValue, endpoint.text)
        case .held(let cause): ("Held", cause.rawValue, nil)
        }
    }

    var json: JSON {
        let (state, cause, endpoint) = words
        return JSON(
            state: state.lowercased(), cause: cause, detail: row.entry.detail, endpoint: endpoint,
            userId: row.submission.userID.rawValue, orderId: row.submission.orderID?.rawValue,
            transactionId: row.submission.claim.transactionID?.rawValue, receivedAt: row.submission.receivedAt.rfc3339,
            attempts: row.attempts, dueAt: row.dueAt.rfc3339, isLeased: row.isLeased,
            history: row.entry.history.attempts.map {
                JSON.AttemptJSON(at: $0.at.rfc3339, cause: $0.cause, detail: $0.detail)
            }, origin: OriginJSON(row.submission.origin))
    }

    struct JSON: Encodable {
        struct AttemptJSON: Encodable {
            let at, cause, detail: String
        }

        let state, cause, detail: String
        let endpoint: String?
        let userId: String
        let orderId, transactionId: String?
        let receivedAt: String
        let attempts: Int
        let dueAt: String
        let isLeased: Bool
        let history: [AttemptJSON]
        let origin: OriginJSON
    }
}

/// A row of `outbox`, for people and as JSON.
struct OwedReport: Sendable {
    let row: OutboxRow

    var field: (name: String, value: String) {
        let next = row.isLeased ? "a worker is at it" : "next at \(row.dueAt.rfc3339)"
        return (kind, "\(target), \(next), after \(SubmissionReport.attempts(row.attempts))")
    }

    private var kind: String {
        switch row.key {
        case .granted(_, repeatOf: nil): "granted event"
        case .granted: "copy of a granted event"
        case .failed: "failed event"
        case .quarantined: "quarantined record"
        }
    }

    private var target: String {
        switch row.target {
        case .topic(let topic): "topic \(topic.rawValue)"
        case .service(let bundleID): "inventory service of \(bundleID)"
        }
    }

    var json: JSON {
        JSON(
            owes: kind, step: row.step.rawValue, target: target, dueAt: row.dueAt.rfc3339, isLeased: row.isLeased,
            attempts: row.attempts)
    }

    struct JSON: Encodable {
        let owes, step, target, dueAt: String
        let isLeased: Bool
        let attempts: Int
    }
}
