import Contract

/// The rows that hold what a batch's grants wanted.
struct Holders {
    private var byReference: [GrantReference: StoredGrant] = [:]
    private var byKey: [GrantKey: StoredGrant] = [:]

    init(_ rows: [StoredGrant]) {
        for row in rows {
            byReference[row.grant.reference] = row
            byKey[row.grant.key] = row
        }
    }

    /// Of two rows the transaction's decides: it is the purchase itself, the other one shares its key.
    func holder(of reference: GrantReference, _ key: GrantKey?) -> StoredGrant? {
        byReference[reference] ?? key.flatMap { byKey[$0] }
    }
}

/// The purchases of one submission, each judged by who holds it.
struct JudgedClaim {
    private let claimant: Claimant
    private let origin: Origin
    /// Added by this batch. To be set before the others are judged.
    var new: [Grant] = []
    /// Added for this very record before.
    private(set) var redelivered: [StoredGrant] = []
    /// The user's by other submissions, or by another record of this one.
    private var repeats: [StoredGrant] = []
    /// Why the first of them is not the user's, if one is not.
    private(set) var rejection: Rejection?
    private(set) var isUndecided = false
    private var heldOrders: Set<OrderID> = []

    init(_ decision: Decision) {
        claimant = decision.claimant
        origin = decision.origin
    }

    /// Judges a purchase that was not added.
    ///
    /// - Parameter holder: Nil where it is not visible yet.
    mutating func add(_ holder: StoredGrant?, productID: ProductID?, _ reference: GrantReference) {
        guard let holder else {
            isUndecided = true
            return
        }
        let grant = holder.grant
        // Two purchases of one submission may share a key, such as a purchase and its restore.
        guard !new.contains(where: { $0.reference == grant.reference }) else { return }
        if let order = grant.orderID { heldOrders.insert(order) }
        guard grant.bundleID == claimant.bundleID, grant.userID == claimant.userID else {
            reject(.ownedByAnotherUser, "The purchase was granted to another user before.", productID, reference)
            return
        }
        if grant.submissionID == claimant.submissionID, grant.origin == origin {
            if !redelivered.contains(holder) { redelivered.append(holder) }
        } else if let held = grant.orderID, let claimed = claimant.orderID, held != claimed {
            reject(
                .grantedToAnotherOrder, "The purchase was granted to this user for another order before.", productID,
                reference)
        } else {
            repeats.append(holder)
        }
    }

    private mutating func reject(
        _ reason: FailureReason, _ detail: String, _ productID: ProductID?, _ reference: GrantReference
    ) {
        rejection =
            rejection ?? Rejection(reason, detail, transactionID: reference.transactionID, productID: productID)
    }

    /// Whether it is about an order that none of the grants in its way has: about something that is not in the evidence yet.
    var namesUnknownOrder: Bool {
        guard let order = claimant.orderID else { return false }
        return !heldOrders.contains(order)
    }

    /// The one grant that answers a repeat: the one that answered it before, else the newest.
    func answering(_ answer: Answer?) -> StoredGrant? {
        if case .repeated(let before) = answer,
            let holder = repeats.first(where: { $0.grant.reference == before.grant })
        {
            return holder
        }
        return repeats.max(by: Self.isOlder)
    }

    /// By the time of the purchase; of two at one time by reference, so that every worker finds the same.
    static func isOlder(_ left: StoredGrant, _ right: StoredGrant) -> Bool {
        left.grant.purchasedAt == right.grant.purchasedAt
            ? left.grant.reference < right.grant.reference : left.grant.purchasedAt < right.grant.purchasedAt
    }
}
