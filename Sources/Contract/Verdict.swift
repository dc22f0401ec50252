/// Why a submission failed for good. The raw values are the `reason` of the failed event.
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
    case quantityOutOfRange = "quantity_out_of_range"
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

/// Why there is no answer about the evidence yet. The raw values label metrics and logs and stand in rows of `retries`.
public enum RetryCause: String, Hashable, Sendable, CaseIterable {
    /// No connection, a timeout, a reset, a TLS fault: nothing was heard from Apple.
    case unreachable
    /// HTTP 5xx, or an answer that is not one: HTML, truncated, oversized, without status, about another receipt.
    case noAnswer = "no_answer"
    /// HTTP 429.
    case rateLimited = "rate_limited"
    /// Apple says it cannot tell now: 21005, 21009, 21100 to 21199, 5000000 and the errors that Apple calls retryable.
    case temporarilyUnable = "temporarily_unable"
    /// 21002 for a receipt that parses, or an id that Apple calls malformed: perhaps a fault of Apple's.
    case perhapsMalformed = "perhaps_malformed"
    /// 21003, or another final refusal, for a receipt that Apple signed.
    case perhapsNotAuthentic = "perhaps_not_authentic"
    /// The claimed transaction is not in Apple's answer yet.
    case notFoundYet = "not_found_yet"
    /// Everything in the answer was granted before, and the claim seems to be about something new.
    case nothingNew = "nothing_new"
    /// Apple signed at a moment that, by our clock, has not come yet.
    case signedAhead = "signed_ahead"
    /// Our own budget for calls to the App Store Server API is spent for now, below the limit that Apple sets.
    case budgetSpent = "budget_spent"
    /// Nobody was asked: the endpoint's circuit breaker is open.
    case endpointUnavailable = "endpoint_unavailable"
}

/// Why a submission waits for us, not for Apple. Never the player's fault, so it never fails.
public enum HoldCause: String, Hashable, Sendable, CaseIterable {
    /// 21004 for every configured shared secret.
    case sharedSecretRefused = "shared_secret_refused"
    /// The App Store Server API is needed and the app has no key for it.
    case credentialsMissing = "credentials_missing"
    /// The App Store Server API refuses the app's key (401), or does not know the app (4000002, 4040003).
    case credentialsRefused = "credentials_refused"
    /// 21000, 4000000 and the like: Apple says our request is wrong.
    case requestRefused = "request_refused"
    /// A status or answer this version does not know.
    case unknownAnswer = "unknown_answer"
    /// It waited, and meanwhile its app was taken out of the apps file.
    case appNotConfigured = "app_not_configured"
    /// Apple's answer lacks what a grant needs, such as a bundle id or a transaction id.
    case incompleteAnswer = "incomplete_answer"
    /// The ledger refuses the decision for its data.
    case decisionRefused = "decision_refused"
}

/// The conclusion of an attempt about a submission.
public enum Verdict: Hashable, Sendable {
    /// Authentic, and these purchases passed every check. Never empty.
    case verified([GrantablePurchase], by: VerifiedBy)
    case rejected(Rejection)
    /// Tried again, without limit; not before the given moment, where Apple named one.
    case retry(RetryCause, notBefore: Timestamp?)
    /// A "no" of Apple's that may not be its last word: tried again, and rejected so once it lasted for long enough.
    case doubt(RetryCause, becomes: Rejection)
    /// Tried again, too, but our configuration or a person must change something first.
    case hold(HoldCause, detail: String)
}
