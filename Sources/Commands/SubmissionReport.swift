import Contract
import Ledger

/// One submission with all that came of it, for people and as JSON.
struct SubmissionReport: Sendable {
    let key: SubmissionKey
    let record: SubmissionRecord
    /// In order.
    let actions: [OperatorAction]

    /// Nil if the ledger knows nothing of the submission.
    init?(_ key: SubmissionKey, _ record: SubmissionRecord, actions: [OperatorAction]) {
        guard !record.grants.isEmpty || record.answer != nil || !record.waiting.isEmpty else { return nil }
        self.key = key
        self.record = record
        self.actions = actions
    }

    /// The answer to "was it granted, and does everybody know?".
    var summary: String {
        switch record.owed.first?.step {
        case .call: return "\(outcome), but the app's inventory service has not been told of it yet."
        case .publish: return "\(outcome), but Kafka has not taken the event that says so yet."
        case nil: return "\(outcome)."
        }
    }

    private var outcome: String {
        switch (record.grants.count, record.answer, record.waiting.first) {
        case (1, _, _): return "The purchase is the user's"
        case (2..., _, _): return "\(record.grants.count) purchases are the user's"
        case (_, .repeated, _): return "The purchase is the user's, by the grant of another submission"
        case (_, .failed, nil): return "Nothing was granted"
        case (_, _, let row?):
            let next = row.isLeased ? "now" : "at \(row.dueAt.rfc3339)"
            return switch row.entry.cause {
            case .retrying: "Neither granted nor refused yet: Apple cannot tell, and is asked again \(next)"
            case .held:
                "Neither granted nor refused: it waits for our side to be mended, and is tried again \(next)"
            }
        case (_, nil, nil): return "Nothing is known"
        }
    }

    /// For people. Nothing is cut, whatever the terminal's width: ids are there to be copied.
    func text() -> String {
        let app = key.bundleID.rawValue.isEmpty ? "-" : key.bundleID.rawValue
        var text = TextFields.title("Submission", key.submissionID.rawValue)
        text += "  \(summary)\n\n" + TextFields(fields: [("app", app)]).text()
        for row in record.waiting { text += "\n" + WaitingReport(row: row).text() }
        switch record.answer {
        case .failed(let failure): text += "\nFailure\n" + TextFields(fields: Self.fields(of: failure)).text()
        case .repeated(let repeated): text += "\nAnswer\n" + TextFields(fields: Self.fields(of: repeated)).text()
        case nil: break
        }
        for row in record.grants {
            text += "\n" + TextFields.title("Grant", row.grant.key.grantID.rawValue)
            text += TextFields(fields: Self.fields(of: row.grant)).text()
        }
        if !record.owed.isEmpty {
            text += "\nOwed\n" + TextFields(fields: record.owed.map { OwedReport(row: $0).field }).text()
        }
        if !actions.isEmpty {
            let lines = actions.map {
                ($0.note.at.rfc3339, "\($0.kind.rawValue) by \($0.note.actor): \($0.note.reason)")
            }
            text += "\nOperator actions\n" + TextFields(fields: lines).text()
        }
        return text
    }

    private static func fields(of failure: Failure) -> [(name: String, value: String)] {
        let claimant = failure.claimant
        let event = FailedEvent.id(bundleID: claimant.bundleID, submissionID: claimant.submissionID)
        let transaction = failure.transactionID.map { [("transaction", $0.rawValue)] } ?? []
        return claim(claimant, failure.origin)
            + [
                ("failed", "\(failure.failedAt.rfc3339), after \(attempts(failure.attempts))"),
                ("reason", failure.reason), ("detail", failure.detail),
                ("event", event.rawValue),
            ] + transaction
    }

    private static func fields(of repeated: Repeat) -> [(name: String, value: String)] {
        claim(repeated.claimant, repeated.origin)
            + [
                ("answered", repeated.answeredAt.rfc3339),
                ("by grant of", "transaction \(repeated.grant.transactionID), \(repeated.grant.environment.rawValue)"),
            ]
    }

    private static func fields(of grant: Grant) -> [(name: String, value: String)] {
        claim(grant.claimant, grant.origin)
            + [
                ("product", "\(grant.productID) (\(grant.productType.rawValue))"),
                ("quantity", String(grant.quantity)), ("gives", GrantListing.items(of: grant)),
                ("transaction", "\(grant.transactionID), \(grant.environment.rawValue)"),
                ("original", grant.originalTransactionID.rawValue), ("verified by", grant.verifiedBy),
                ("granted", "\(grant.grantedAt.rfc3339), after \(attempts(grant.attempts))"),
                ("event", GrantedEvent.id(of: grant.key.grantID).rawValue),
            ]
    }

    static func claim(_ claimant: Claimant, _ origin: Origin) -> [(name: String, value: String)] {
        [
            ("user", claimant.userID.rawValue), ("order", claimant.orderID?.rawValue ?? "-"),
            ("from", "\(origin.topic), partition \(origin.partition), offset \(origin.offset)"),
        ]
    }

    static func attempts(_ count: Int) -> String { "\(count) \(count == 1 ? "attempt" : "attempts")" }
}

extension SubmissionReport {
    var json: JSON {
        JSON(
            submissionId: key.submissionID.rawValue, bundleId: key.bundleID.rawValue, state: state,
            grants: record.grants.map { GrantJSON($0.grant) }, failure: failure, repeatOf: repeatOf,
            waiting: record.waiting.map { WaitingReport(row: $0).json },
            owed: record.owed.map { OwedReport(row: $0).json }, actions: actions.map { ActionJSON($0) })
    }

    /// A grant counts before a failure, and a failure before other content that waits under its id.
    private var state: String {
        if !record.grants.isEmpty { return SubmissionState.granted.rawValue }
        switch (record.answer, record.waiting.first) {
        case (.repeated, _): return SubmissionState.granted.rawValue
        case (_, let row?): return WaitingReport(row: row).json.state
        case (_, nil): return SubmissionState.failed.rawValue
        }
    }

    private var failure: FailureJSON? {
        guard case .failed(let failure) = record.answer else { return nil }
        return FailureJSON(failure)
    }

    private var repeatOf: RepeatJSON? {
        guard case .repeated(let repeated) = record.answer else { return nil }
        return RepeatJSON(repeated)
    }

    struct List: Encodable {
        let submissions: [JSON]
    }

    struct JSON: Encodable {
        let submissionId, bundleId, state: String
        let grants: [GrantJSON]
        let failure: FailureJSON?
        let repeatOf: RepeatJSON?
        let waiting: [WaitingReport.JSON]
        let owed: [OwedReport.JSON]
        let actions: [ActionJSON]
    }

    struct FailureJSON: Encodable {
        let eventId, userId: String
        let orderId: String?
        let reason, detail: String
        let transactionId, productId: String?
        let attempts: Int
        let failedAt: String
        let origin: OriginJSON

        init(_ failure: Failure) {
            let claimant = failure.claimant
            eventId = FailedEvent.id(bundleID: claimant.bundleID, submissionID: claimant.submissionID).rawValue
            userId = claimant.userID.rawValue
            orderId = claimant.orderID?.rawValue
            reason = failure.reason
            detail = failure.detail
            transactionId = failure.transactionID?.rawValue
            productId = failure.productID?.rawValue
            attempts = failure.attempts
            failedAt = failure.failedAt.rfc3339
            origin = OriginJSON(failure.origin)
        }
    }

    /// Another submission's grant that answers this one.
    struct RepeatJSON: Encodable {
        let environment, transactionId, userId, answeredAt: String
        let orderId: String?
        let origin: OriginJSON

        init(_ repeated: Repeat) {
            environment = repeated.grant.environment.rawValue
            transactionId = repeated.grant.transactionID.rawValue
            userId = repeated.claimant.userID.rawValue
            orderId = repeated.claimant.orderID?.rawValue
            answeredAt = repeated.answeredAt.rfc3339
            origin = OriginJSON(repeated.origin)
        }
    }

    struct ActionJSON: Encodable {
        let at, action, actor, reason: String

        init(_ action: OperatorAction) {
            at = action.note.at.rfc3339
            self.action = action.kind.rawValue
            actor = action.note.actor
            reason = action.note.reason
        }
    }
}

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
