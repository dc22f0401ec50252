/// Why a submission failed for good. The raw values are the `reason` of the failed event.
public enum FailureReason: String, Sendable, CaseIterable {
    case malformedSubmission = "malformed_submission"
    case unknownApp = "unknown_app"
    case receiptMalformed = "receipt_malformed"
    case receiptNotAuthentic = "receipt_not_authentic"
    case signatureInvalid = "signature_invalid"
    case bundleMismatch = "bundle_mismatch"
    case environmentNotAllowed = "environment_not_allowed"
    case productMismatch = "product_mismatch"
    case unknownProduct = "unknown_product"
    case quantityOutOfRange = "quantity_out_of_range"
    case transactionNotFound = "transaction_not_found"
    case transactionRevoked = "transaction_revoked"
    case subscriptionExpired = "subscription_expired"
    case ownedByAnotherUser = "owned_by_another_user"
    case grantedToAnotherOrder = "granted_to_another_order"
    case accountTokenMismatch = "account_token_mismatch"
    case familySharedNotAllowed = "family_shared_not_allowed"
    case accountGone = "account_gone"
    case abandonedByOperator = "abandoned_by_operator"
}

/// A definite "no", with what a support person needs to explain it.
public struct Rejection: Hashable, Sendable {
    public let reason: FailureReason
    /// One sentence for people. Never holds a receipt, a token or a secret.
    public let detail: String
    /// The purchase it is about, where one is known.
    public let transactionID: TransactionID?
    public let productID: ProductID?

    /// A rejection about one purchase, or about the evidence as a whole.
    public init(
        _ reason: FailureReason, _ detail: String, transactionID: TransactionID? = nil, productID: ProductID? = nil
    ) {
        self.reason = reason
        self.detail = detail
        self.transactionID = transactionID
        self.productID = productID
    }
}

/// Why there is no answer about the evidence yet. The raw values label metrics and logs.
public enum RetryCause: String, Sendable, CaseIterable {
    /// No connection, a timeout, a reset, a TLS fault: nothing was heard from Apple.
    case unreachable
    /// HTTP 5xx, or an answer that is not one (HTML, truncated, oversized, no status).
    case noAnswer
    /// HTTP 429.
    case rateLimited
    /// Apple says it cannot tell now (21005, 21009, 21100-21199 marked retryable or unmarked).
    case temporarilyUnable
    /// 21002 for a receipt that parses: malformed after all, or a temporary fault at Apple's.
    case perhapsMalformed
    /// 21003: asked once more before it is believed.
    case perhapsNotAuthentic
    /// The claimed transaction is not in Apple's answer yet.
    case notFoundYet
    /// Apple signed at a moment that, by our clock, has not come yet.
    case signedAhead
    /// Our own budget for calls to the App Store Server API is spent for now, below what Apple allows.
    case budgetSpent
}

/// How long a ``RetryCause`` may last before its doubt is settled against the submission.
public enum Patience: Hashable, Sendable {
    /// Tried until Apple answers.
    case unlimited
    /// Rejected when the same cause comes back for this many tries in a row.
    case tries(Int, then: Rejection)
    /// Rejected when the bounded window (counted from the first try) has passed.
    case window(then: Rejection)
}

/// Why a submission waits for us, not for Apple. Never the player's fault, so it never fails.
public enum HoldCause: String, Sendable, CaseIterable {
    /// 21004 for every configured shared secret.
    case sharedSecretRefused
    /// The App Store Server API is needed and the app has no key for it.
    case credentialsMissing
    /// The App Store Server API refuses the app's key (401), or does not know the app (4000002, 4040003).
    case credentialsRefused
    /// 21000, 4000000 and the like: Apple says our request is wrong.
    case requestRefused
    /// A status or answer this version does not know.
    case unknownAnswer
    /// Evidence that the version which held it could not verify.
    case evidenceNotSupported
    /// It waited, and meanwhile its app was taken out of the apps file.
    case appNotConfigured
    /// Apple's answer lacks what a grant needs (a bundle id, a transaction id).
    case incompleteAnswer
}

/// What verification concluded about a submission.
public enum Verdict: Hashable, Sendable {
    /// Authentic, and these purchases passed every check. Never empty.
    case verified([GrantablePurchase], by: VerifiedBy)
    case rejected(Rejection)
    /// Not before the given moment, where Apple named one.
    case retry(RetryCause, notBefore: Timestamp?, patience: Patience)
    case hold(HoldCause, detail: String)
}
