/// `purchases.failed`: this submission will not be granted, and why. Written once per submission.
public struct FailedEvent: Sendable {
    /// `ce_type` of the event.
    public static let type = "com.grantor.purchase.failed.v1"
    private static let typeHeader = CloudEvent.typeHeader(type)

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
        let time = failedAt.rfc3339
        var body = JSONObjectWriter()
        body.member("attempts", Int64(attempts))
        body.member("bundleId", claim.bundleID.rawValue)
        body.member("detail", rejection.detail)
        body.member("eventId", id.rawValue)
        body.member("failedAt", time)
        body.member("orderId", claim.orderID?.rawValue)
        body.member("productId", rejection.productID?.rawValue)
        body.member("reason", rejection.reason.rawValue)
        body.member("submissionId", claim.submissionID.rawValue)
        body.member("transactionId", rejection.transactionID?.rawValue)
        body.member("userId", claim.userID.rawValue)
        return Event(
            id: id, kind: .failed, key: Array(claim.userID.rawValue.utf8),
            headers: CloudEvent.headers(
                id: id, type: typeHeader, subject: claim.submissionID.rawValue, time: time,
                traceparent: claim.traceparent),
            value: body.finished())
    }
}
