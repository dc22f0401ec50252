/// Who claims a purchase with which submission: what an answer needs of the submission.
public struct Claimant: Hashable, Sendable {
    public let submissionID: SubmissionID
    public let userID: UserID
    /// As the submission has it; empty where a malformed one has none.
    public let bundleID: BundleID
    public let orderID: OrderID?
    /// W3C Trace Context of the submission's record, handed on to the event.
    public let traceparent: String?

    /// The part of a submission that its answer repeats.
    public init(
        submissionID: SubmissionID, userID: UserID, bundleID: BundleID, orderID: OrderID? = nil,
        traceparent: String? = nil
    ) {
        self.submissionID = submissionID
        self.userID = userID
        self.bundleID = bundleID
        self.orderID = orderID
        self.traceparent = traceparent
    }
}
