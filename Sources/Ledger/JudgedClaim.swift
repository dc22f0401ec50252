import Contract

extension NamedPurchase {
    var reference: GrantReference { GrantReference(environment: key.environment, transactionID: transactionID) }
}

/// The rows that hold the keys of a batch's grants.
struct Holders {
    enum Holder {
        case row(StoredGrant)
        /// There is one, and only a later version can read it.
        case later
        case none

        var row: StoredGrant? { if case .row(let stored) = self { stored } else { nil } }
        var isThere: Bool { if case .none = self { false } else { true } }
    }

    private var byReference: [GrantReference: Holder] = [:]
    private var byKey: [GrantKey: Holder] = [:]

    init(_ found: FoundGrants) {
        for row in found.known {
            byReference[row.grant.reference] = .row(row)
            byKey[row.grant.key] = .row(row)
        }
        for row in found.later {
            if let reference = row.reference { byReference[reference] = .later }
            if let key = row.key { byKey[key] = .later }
        }
    }

    /// Of two rows the transaction's decides: it is the purchase itself, and the other one only shares its key.
    func holder(of reference: GrantReference, _ key: GrantKey?) -> Holder {
        byReference[reference] ?? key.flatMap { byKey[$0] } ?? .none
    }
}

/// A user's submission: two users with one id have one each.
struct OwnClaim: Hashable {
    private let key: SubmissionKey
    private let userID: UserID

    init(_ claimant: Claimant) {
        key = claimant.submissionKey
        userID = claimant.userID
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
    /// Purchases of another user, which nothing tells of where others of the claim are this user's.
    private(set) var strangers: [PassedOver.Entry] = []
    private(set) var isUndecided = false
    /// Only a later version can read the row that holds one of them.
    private(set) var isLater = false
    private var heldOrders: Set<OrderID> = []

    init(_ decision: Decision) {
        claimant = decision.claimant
        origin = decision.origin
    }

    /// Judges a purchase that was not added.
    /// - Parameter holder: None where it is not visible yet.
    mutating func add(_ holder: Holders.Holder, productID: ProductID?, _ reference: GrantReference) {
        let stored: StoredGrant
        switch holder {
        case .row(let row): stored = row
        case .later:
            isLater = true
            return
        case .none:
            isUndecided = true
            return
        }
        let grant = stored.grant
        // Two purchases of one submission may share a key, such as a purchase and its restore.
        guard !new.contains(where: { $0.reference == grant.reference }) else { return }
        if let order = grant.orderID { heldOrders.insert(order) }
        guard grant.bundleID == claimant.bundleID, grant.userID == claimant.userID else {
            let way = grant.isImported ? "by a grant that was imported" : "whose submission was read first"
            strangers.append(PassedOver.Entry(reference.transactionID, productID ?? "-", .ownedByAnotherUser))
            reject(.ownedByAnotherUser, "The purchase was granted to another user, \(way).", productID, reference)
            return
        }
        if grant.submissionID == claimant.submissionID, grant.origin == origin {
            if !redelivered.contains(stored) { redelivered.append(stored) }
        } else if let held = grant.orderID, let claimed = claimant.orderID, held != claimed {
            reject(
                .grantedToAnotherOrder, "The purchase was granted to this user for another order before.", productID,
                reference)
        } else {
            repeats.append(stored)
        }
    }

    private mutating func reject(
        _ reason: FailureReason, _ detail: String, _ productID: ProductID?, _ reference: GrantReference
    ) {
        rejection = rejection ?? Rejection(reason, detail, transactionID: reference.transactionID, productID: productID)
    }

    /// Whether its order has none of the grants in its way. Its purchase may then not be in the evidence yet.
    var namesUnknownOrder: Bool {
        guard let order = claimant.orderID else { return false }
        return !heldOrders.contains(order)
    }

    /// Whether its purchases were granted before, for the same order or under the same submission id, or it was
    /// answered by them. No new row is written under the id, so the former row must show the purchases that are passed
    /// over.
    /// - Parameter isShown: Whether a row with this shows it.
    func isAnswered(_ answer: Answer?, isShown: (PassedOver?) -> Bool) -> Bool {
        if case .repeated(let before) = answer, before.claimant.userID == claimant.userID {
            return isShown(before.passedOver)
        }
        let own = repeats.filter { $0.grant.submissionID == claimant.submissionID }
        guard own.isEmpty else { return own.contains { isShown($0.grant.passedOver) } }
        return claimant.orderID != nil && repeats.contains { $0.grant.orderID == claimant.orderID }
    }

    /// The grant that answers a repeat: the one that answered it before, else the newest.
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
