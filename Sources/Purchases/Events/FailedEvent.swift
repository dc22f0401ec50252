/// `purchases.failed`: this submission will not be granted, and why. Written once per submission.
public struct FailedEvent: Sendable {
    /// `ce_type` of the event.
    public static let type = "com.grantor.purchase.failed.v1"

    /// The id of the event that tells of a submission's failure.
    public static func id(bundleID: BundleID, submissionID: SubmissionID) -> EventID {
        // The length keeps two pairs of texts from running into the same name.
        let name = "failed:\(bundleID.rawValue.utf8.count):\(bundleID.rawValue):\(submissionID.rawValue)"
        return EventID(NameBasedUUID.text(namespace: NameBasedUUID.events, name: name))
    }

    /// Makes the event of a failed submission, ready to be published.
    ///
    /// - Parameter attempts: how often verification was tried; 0 when it failed before it.
    public static func event(
        of claim: Claimant, rejection: Rejection, failedAt: Timestamp, attempts: Int
    ) -> Event {
        let id = id(bundleID: claim.bundleID, submissionID: claim.submissionID)
        let body = Body(
            eventId: id.rawValue, submissionId: claim.submissionID.rawValue, orderId: claim.orderID?.rawValue,
            userId: claim.userID.rawValue, bundleId: claim.bundleID.rawValue, reason: rejection.reason.rawValue,
            detail: rejection.detail, transactionId: rejection.transactionID?.rawValue,
            productId: rejection.productID?.rawValue, failedAt: failedAt.rfc3339, attempts: attempts)
        return Event(
            id: id, kind: .failed, key: Array(claim.userID.rawValue.utf8),
            headers: CloudEvent.headers(
                id: id, type: type, subject: claim.submissionID.rawValue, time: failedAt,
                traceparent: claim.traceparent),
            value: CloudEvent.body(body))
    }

    private struct Body: Encodable {
        let eventId, submissionId: String
        let orderId: String?
        let userId, bundleId, reason, detail: String
        let transactionId, productId: String?
        let failedAt: String
        let attempts: Int
    }
}
