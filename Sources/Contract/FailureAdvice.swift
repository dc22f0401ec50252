/// The meaning of a failure for those who submit, and for the player: docs/integration.md has the same words.
extension FailureReason {
    /// Whether to submit once more. It is under a new id always: a second failure under one id tells the first one's
    /// reason.
    public enum Again: String, Sendable {
        /// The answer is final for this purchase and user.
        case no
        /// With mended or fresh content.
        case otherContent = "other content"
        /// As it is, once somebody has mended the cause.
        case sameContent = "same content"
    }

    public var again: Again {
        switch self {
        case .malformedSubmission, .receiptMalformed, .receiptNotAuthentic, .signatureInvalid, .bundleMismatch,
            .productMismatch, .transactionNotFound, .accountTokenMismatch, .accountTokenMissing:
            .otherContent
        case .unknownApp, .environmentNotAllowed, .unknownProduct, .familySharedNotAllowed, .abandonedByOperator:
            .sameContent
        case .transactionRevoked, .subscriptionExpired, .ownedByAnotherUser, .grantedToAnotherOrder, .accountGone: .no
        }
    }

    /// Words that the player may hear.
    public var wordsForPlayer: String {
        switch self {
        case .malformedSubmission, .unknownApp, .productMismatch: "A fault of ours; your purchase is safe."
        case .receiptMalformed: "Please restore purchases."
        case .receiptNotAuthentic, .signatureInvalid: "We cannot confirm this purchase. Please restore purchases."
        case .bundleMismatch: "We cannot confirm this purchase."
        case .environmentNotAllowed: "A test purchase; nothing was charged."
        case .unknownProduct: "This product is not available any more. Please ask support."
        case .transactionNotFound: "Apple has no such purchase. If you were charged, please restore purchases."
        case .transactionRevoked: "The purchase was refunded or replaced."
        case .subscriptionExpired: "The subscription is over."
        case .ownedByAnotherUser: "This purchase belongs to another account. Please log in there."
        case .grantedToAnotherOrder: "You have this purchase already."
        case .accountTokenMismatch: "This purchase was made for another account. Please log in there."
        case .accountTokenMissing: "We cannot tell whose purchase this is. Please ask support."
        case .familySharedNotAllowed: "This purchase cannot be shared within a family."
        case .accountGone: "Apple does not find the account of this purchase."
        case .abandonedByOperator: "Please ask support."
        }
    }
}
