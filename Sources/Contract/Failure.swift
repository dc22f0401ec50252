/// Why a submission failed. The raw values are the `reason` of the failed event.
public enum FailureReason: String, Hashable, Sendable, CaseIterable {
    case malformedSubmission = "malformed_submission"
    case unknownApp = "unknown_app"
    case receiptMalformed = "receipt_malformed"
    case receiptNotAuthentic = "receipt_not_authentic"
    case signatureInvalid = "signature_invalid"
    case bundleMismatch = "bundle_mismatch"
    case environmentNotAllowed = "environment_not_allowed"
    case productMismatch = "product_mismatch"
    case unknownProduct = "unknown_product"
    case transactionNotFound = "transaction_not_found"
    case transactionRevoked = "transaction_revoked"
    case subscriptionExpired = "subscription_expired"
    case ownedByAnotherUser = "owned_by_another_user"
    case grantedToAnotherOrder = "granted_to_another_order"
    case accountTokenMismatch = "account_token_mismatch"
    case accountTokenMissing = "account_token_missing"
    case familySharedNotAllowed = "family_shared_not_allowed"
    case accountGone = "account_gone"
    case abandonedByOperator = "abandoned_by_operator"
}

/// A definite "no", with the words by which support staff can explain it.
public struct Rejection: Hashable, Sendable {
    public let reason: FailureReason
    /// One sentence for people. Never holds a receipt, a token or a secret.
    public let detail: String
    /// The purchase it is about, where one is known.
    public let transactionID: TransactionID?
    public let productID: ProductID?

    public init(
        _ reason: FailureReason, _ detail: String, transactionID: TransactionID? = nil, productID: ProductID? = nil
    ) {
        self.reason = reason
        self.detail = detail
        self.transactionID = transactionID
        self.productID = productID
    }
}

/// A submission that will not be granted: every value of a failed row of `answers`.
///
/// Its event is made from it and from nothing else.
public final class Failure: Sendable, Hashable {
    public let claimant: Claimant
    /// A ``FailureReason``, or the word of a later version.
    public let reason: String
    /// One sentence for people. Never holds a receipt, a token or a secret.
    public let detail: String
    public let transactionID: TransactionID?
    public let productID: ProductID?
    public let failedAt: Timestamp
    /// How often verification was tried; 0 when it failed before it.
    public let attempts: Int
    /// The claim's digest: the same claim stays failed, and another one under the same id may be granted.
    public let digest: ClaimDigest
    public let origin: Origin
    public let format: EventFormat

    public init(
        claimant: Claimant, reason: String, detail: String, transactionID: TransactionID?, productID: ProductID?,
        failedAt: Timestamp, attempts: Int, digest: ClaimDigest, origin: Origin, format: EventFormat
    ) {
        self.claimant = claimant
        self.reason = reason
        self.detail = detail
        self.transactionID = transactionID
        self.productID = productID
        self.failedAt = failedAt
        self.attempts = attempts
        self.digest = digest
        self.origin = origin
        self.format = format
    }

    public convenience init(
        of claimant: Claimant, _ rejection: Rejection, failedAt: Timestamp, attempts: Int, digest: ClaimDigest,
        origin: Origin
    ) {
        self.init(
            claimant: claimant, reason: rejection.reason.rawValue, detail: rejection.detail,
            transactionID: rejection.transactionID, productID: rejection.productID, failedAt: failedAt,
            attempts: attempts, digest: digest, origin: origin, format: .current)
    }

    /// The same failure, as if it had been decided at another moment.
    /// - Parameter attempts: nil for as many.
    public func decided(at moment: Timestamp, attempts: Int?) -> Failure {
        Failure(
            claimant: claimant, reason: reason, detail: detail, transactionID: transactionID, productID: productID,
            failedAt: moment, attempts: attempts ?? self.attempts, digest: digest, origin: origin, format: format)
    }

    /// Written by hand, as a class has no other. A test changes each member that reflection finds.
    public static func == (left: Failure, right: Failure) -> Bool {
        left === right
            || (left.claimant == right.claimant && left.reason == right.reason && left.detail == right.detail
                && left.transactionID == right.transactionID && left.productID == right.productID
                && left.failedAt == right.failedAt && left.attempts == right.attempts && left.digest == right.digest
                && left.origin == right.origin && left.format == right.format)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(claimant)
        hasher.combine(digest)
    }
}

/// `purchases.failed`: this submission will not be granted, and why.
public enum FailedEvent {
    public static let type = "com.grantor.purchase.failed.v1"
    private static let typeHeader = CloudEvent.typeHeader(type)

    /// The id of the event of a submission's failure.
    public static func id(bundleID: BundleID, submissionID: SubmissionID) -> EventID {
        // The length keeps two pairs of texts from running into the same name.
        let name = "failed:\(bundleID.rawValue.utf8.count):\(bundleID.rawValue):\(submissionID.rawValue)"
        return EventID(NameBasedUUID.text(namespace: NameBasedUUID.events, name: name))
    }

    /// Makes the event of a failed submission, ready to be published.
    public static func event(of failure: Failure) -> Event {
        let claimant = failure.claimant
        let id = id(bundleID: claimant.bundleID, submissionID: claimant.submissionID)
        let value =
            switch failure.format {
            case .v1: valueV1(of: failure, id: id)
            }
        return Event(
            id: id, topic: .failed, key: Array(claimant.userID.rawValue.utf8),
            headers: CloudEvent.headers(
                id: id, type: typeHeader, subject: claimant.submissionID.rawValue, time: failure.failedAt,
                traceparent: claimant.traceparent),
            value: value)
    }

    private static func valueV1(of failure: Failure, id: EventID) -> [UInt8] {
        var body = JSONObjectWriter()
        body.member("attempts", Int64(failure.attempts))
        body.member("bundleId", failure.claimant.bundleID.rawValue)
        body.member("detail", failure.detail)
        body.member("eventId", id.rawValue)
        body.member("failedAt", failure.failedAt)
        body.member("orderId", failure.claimant.orderID?.rawValue)
        body.member("productId", failure.productID?.rawValue)
        body.member("reason", failure.reason)
        body.member("submissionId", failure.claimant.submissionID.rawValue)
        body.member("transactionId", failure.transactionID?.rawValue)
        body.member("userId", failure.claimant.userID.rawValue)
        return body.finished()
    }
}
