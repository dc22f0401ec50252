import Contract
import Ledger

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
