public import Purchases

/// A purchase on its way to becoming a grant, with all that its rows hold.
///
/// A class for the same reason as ``Settlement``.
public final class GrantClaim: Sendable {
    public let key: GrantKey
    public let grantID: GrantID
    public let granted: GrantablePurchase
    public let verifiedBy: VerifiedBy
    /// The event that is written if the claim creates the grant, and thrown away if it does not.
    public let event: Event

    private init(
        key: GrantKey, grantID: GrantID, granted: GrantablePurchase, verifiedBy: VerifiedBy, event: Event
    ) {
        self.key = key
        self.grantID = grantID
        self.granted = granted
        self.verifiedBy = verifiedBy
        self.event = event
    }

    /// What Apple calls one purchase. At most one grant exists for each, as for each key: where Apple names a period's line item
    /// in one answer and not in another, the keys differ and this does not.
    struct Transaction: Hashable {
        let environment: Environment
        let id: TransactionID
    }

    var transaction: Transaction {
        Transaction(environment: granted.purchase.environment, id: granted.purchase.transactionID)
    }

    /// The claims of one submission: its purchases in order, those with the same key or transaction once.
    public static func claims(
        of purchases: [GrantablePurchase], by verifiedBy: VerifiedBy, claimant: Claimant, at now: Timestamp
    ) -> [GrantClaim] {
        var keys: Set<GrantKey> = []
        var transactions: Set<Transaction> = []
        return purchases.compactMap { granted in
            let key = GrantKey(of: granted)
            guard purchases.count == 1 || keys.insert(key).inserted else { return nil }
            let grantID = key.grantID
            let event = GrantedEvent.event(
                grant: grantID, of: granted, to: claimant, by: verifiedBy, grantedAt: now)
            let claim = GrantClaim(key: key, grantID: grantID, granted: granted, verifiedBy: verifiedBy, event: event)
            guard purchases.count == 1 || transactions.insert(claim.transaction).inserted else { return nil }
            return claim
        }
    }
}

/// Whom a stored grant belongs to.
public struct GrantHolder: Hashable, Sendable {
    public let userID: UserID
    public let orderID: OrderID?
    public let eventID: EventID

    /// The part of a grant that a later claim is judged by.
    public init(userID: UserID, orderID: OrderID?, eventID: EventID) {
        self.userID = userID
        self.orderID = orderID
        self.eventID = eventID
    }
}

/// What became of one claim.
public enum ClaimResult: Hashable, Sendable {
    /// No grant had the key; this claim's grant has it now.
    case created(EventID)
    /// The claimant was granted it before, with this event.
    case answered(EventID)
    case refused(Rejection)

    /// Judges a claim whose key is taken.
    ///
    /// The same user gets the answer again, unless both sides name an order and the orders differ.
    public init(of claim: GrantClaim, for claimant: Claimant, heldBy holder: GrantHolder) {
        let purchase = claim.granted.purchase
        guard holder.userID == claimant.userID else {
            self = .refused(
                Rejection(
                    .ownedByAnotherUser, "The purchase was granted to another user before.",
                    transactionID: purchase.transactionID, productID: purchase.productID))
            return
        }
        if let held = holder.orderID, let claimed = claimant.orderID, held != claimed {
            self = .refused(
                Rejection(
                    .grantedToAnotherOrder, "The purchase was granted to this user for another order before.",
                    transactionID: purchase.transactionID, productID: purchase.productID))
            return
        }
        self = .answered(holder.eventID)
    }
}
