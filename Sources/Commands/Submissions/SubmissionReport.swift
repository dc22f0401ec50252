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
