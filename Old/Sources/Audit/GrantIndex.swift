import Ledger
import Purchases

/// What is kept of each grant, under the id of its event: 72 bytes. Other rows are compared with it.
struct GrantIndex: Sendable {
    struct Mark: Sendable {
        /// Of what row and event both tell.
        let content: Identity
        let user: UInt64
        /// 0 where it was granted without one.
        let order: UInt64
        /// The submission that it was granted for.
        let submission: UInt64
        let product: Int32
        let quantity: Int32
        /// Its event came.
        var isTold = false
        /// Its inventory service still has to be told, and its event waits for that.
        var isToBeDelivered = false
    }

    private(set) var marks: [Identity: Mark] = [:]
    /// Products, numbered.
    private(set) var products: [String] = []
    private var numbers: [String: Int32] = [:]

    mutating func take(_ grant: GrantRow) {
        let claimant = grant.claimant
        let purchase = grant.granted.purchase
        marks[Identity(grant.eventID)] = Mark(
            content: GrantContent(grant).identity, user: Self.short(claimant.userID.rawValue),
            order: claimant.orderID.map { Self.short($0.rawValue) } ?? 0,
            submission: Identity(
                SubmissionKey(bundleID: claimant.bundleID, submissionID: claimant.submissionID)
            ).high,
            product: number(of: purchase.productID.rawValue), quantity: Int32(clamping: purchase.quantity))
    }

    mutating func tell(_ id: Identity) { marks[id]?.isTold = true }

    mutating func deliver(_ id: Identity) { marks[id]?.isToBeDelivered = true }

    mutating func number(of product: String) -> Int32 {
        if let number = numbers[product] { return number }
        let number = Int32(clamping: products.count)
        products.append(product)
        numbers[product] = number
        return number
    }

    /// 64 bits tell a different account for certain, and take two for the same once in 2^64.
    static func short(_ text: String) -> UInt64 { Identity(text: text).high }
}

/// What a grant's row and its event both tell, put together the same way from either.
struct GrantContent {
    let identity: Identity

    init(_ grant: GrantRow) {
        let (claimant, purchase) = (grant.claimant, grant.granted.purchase)
        identity = Self.identity([
            grant.grantID.rawValue, claimant.submissionID.rawValue, claimant.userID.rawValue,
            claimant.bundleID.rawValue, claimant.orderID?.rawValue, purchase.environment.rawValue,
            purchase.productID.rawValue, grant.granted.type.rawValue, String(purchase.quantity),
            purchase.transactionID.rawValue, purchase.originalTransactionID.rawValue, purchase.purchasedAt.rfc3339,
            purchase.expiresAt?.rfc3339, grant.grantedAt.rfc3339, grant.verifiedBy.rawValue,
        ])
    }

    init(_ body: GrantedBody) {
        identity = Self.identity([
            body.grantId, body.submissionId, body.userId, body.bundleId, body.orderId, body.environment, body.productId,
            body.productType, String(body.quantity), body.transactionId, body.originalTransactionId, body.purchasedAt,
            body.expiresAt, body.grantedAt, body.verifiedBy,
        ])
    }

    private static func identity(_ members: [String?]) -> Identity {
        Identity(parts: members.map { $0.map { Array($0.utf8) } })
    }
}

/// The members of a granted event that its row has too.
struct GrantedBody: Decodable {
    let grantId, submissionId, userId, bundleId: String
    let orderId: String?
    let environment, productId, productType: String
    let quantity: Int
    let transactionId, originalTransactionId, purchasedAt: String
    let expiresAt: String?
    let grantedAt, verifiedBy: String
}
