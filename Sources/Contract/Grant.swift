/// A purchase that was given to a user: every value of a row of `grants`.
///
/// Its event is made from it and from nothing else.
public final class Grant: Sendable, Hashable {
    public let key: GrantKey
    public let transactionID: TransactionID
    public let originalTransactionID: TransactionID
    public let webOrderLineItemID: String?
    /// One unit and its items, as the catalogue had it.
    public let product: Product
    /// Units, as Apple attests them.
    public let quantity: Int
    public let purchasedAt: Timestamp
    public let expiresAt: Timestamp?
    public let ownership: Ownership
    public let payment: Payment?
    public let offer: Offer?
    /// A ``VerifiedBy``, or the word of a later version.
    public let verifiedBy: String
    /// The submission that was granted, its user, app and order.
    public let claimant: Claimant
    public let origin: Origin
    public let receivedAt: Timestamp
    public let grantedAt: Timestamp
    /// Attempts at a verdict, the last one included; 1 where Apple was not asked.
    public let attempts: Int
    public let format: EventFormat
    /// Purchases left out beside it. They have no event.
    public let passedOver: PassedOver?

    public init(
        key: GrantKey, transactionID: TransactionID, originalTransactionID: TransactionID, webOrderLineItemID: String?,
        product: Product, quantity: Int, purchasedAt: Timestamp, expiresAt: Timestamp?, ownership: Ownership,
        payment: Payment?, offer: Offer?, verifiedBy: String, claimant: Claimant, origin: Origin,
        receivedAt: Timestamp, grantedAt: Timestamp, attempts: Int, format: EventFormat, passedOver: PassedOver?
    ) {
        self.key = key
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.webOrderLineItemID = webOrderLineItemID
        self.product = product
        self.quantity = quantity
        self.purchasedAt = purchasedAt
        self.expiresAt = expiresAt
        self.ownership = ownership
        self.payment = payment
        self.offer = offer
        self.verifiedBy = verifiedBy
        self.claimant = claimant
        self.origin = origin
        self.receivedAt = receivedAt
        self.grantedAt = grantedAt
        self.attempts = attempts
        self.format = format
        self.passedOver = passedOver
    }

    /// The grant of a verified purchase to the user of a submission.
    public convenience init(
        of granted: GrantablePurchase, to submission: Submission, by verifiedBy: VerifiedBy, attempts: Int,
        grantedAt: Timestamp
    ) {
        let purchase = granted.purchase
        self.init(
            key: granted.grantKey, transactionID: purchase.transactionID,
            originalTransactionID: purchase.originalTransactionID, webOrderLineItemID: purchase.webOrderLineItemID,
            product: granted.product, quantity: purchase.quantity, purchasedAt: purchase.purchasedAt,
            expiresAt: purchase.expiresAt, ownership: purchase.ownership, payment: purchase.payment,
            offer: purchase.offer, verifiedBy: verifiedBy.rawValue, claimant: submission.claimant,
            origin: submission.origin, receivedAt: submission.receivedAt, grantedAt: grantedAt, attempts: attempts,
            format: .current, passedOver: granted.passedOver)
    }

    /// The same grant, as if it had been given at another moment.
    public func decided(at moment: Timestamp) -> Grant {
        Grant(
            key: key, transactionID: transactionID, originalTransactionID: originalTransactionID,
            webOrderLineItemID: webOrderLineItemID, product: product, quantity: quantity, purchasedAt: purchasedAt,
            expiresAt: expiresAt, ownership: ownership, payment: payment, offer: offer, verifiedBy: verifiedBy,
            claimant: claimant, origin: origin, receivedAt: receivedAt, grantedAt: moment, attempts: attempts,
            format: format, passedOver: passedOver)
    }

    public var environment: Environment { key.environment }
    public var productID: ProductID { product.id }
    public var productType: ProductType { product.type }
    public var submissionID: SubmissionID { claimant.submissionID }
    public var userID: UserID { claimant.userID }
    public var bundleID: BundleID { claimant.bundleID }
    public var orderID: OrderID? { claimant.orderID }

    /// All that the player gets. Falls back on the items of one unit where a number grows beyond `Int`. The check
    /// before the write excludes that.
    public var items: [Item] { product.items(times: quantity) ?? product.items }

    /// Whether another system granted it, before this one came into use.
    public var isImported: Bool { verifiedBy == VerifiedBy.imported.rawValue }

    /// Written by hand, as a class has no other. A test changes each member that reflection finds.
    public static func == (left: Grant, right: Grant) -> Bool {
        left === right
            || (left.key == right.key && left.transactionID == right.transactionID
                && left.originalTransactionID == right.originalTransactionID
                && left.webOrderLineItemID == right.webOrderLineItemID && left.product == right.product
                && left.quantity == right.quantity && left.purchasedAt == right.purchasedAt
                && left.expiresAt == right.expiresAt && left.ownership == right.ownership
                && left.payment == right.payment && left.offer == right.offer && left.verifiedBy == right.verifiedBy
                && left.claimant == right.claimant && left.origin == right.origin
                && left.receivedAt == right.receivedAt && left.grantedAt == right.grantedAt
                && left.attempts == right.attempts && left.format == right.format
                && left.passedOver == right.passedOver)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(transactionID)
    }
}

/// `purchases.granted`: this purchase was given to this user.
public enum GrantedEvent {
    public static let type = "com.grantor.purchase.granted.v1"
    /// Header of copies that a repeat asked for: the id of the submission that repeated the claim.
    public static let repeatHeader = "grantor-repeat-of"
    private static let typeHeader = CloudEvent.typeHeader(type)

    /// The id of a grant's event.
    public static func id(of grant: GrantID) -> EventID {
        EventID(NameBasedUUID.text(namespace: NameBasedUUID.events, name: "granted:" + grant.rawValue))
    }

    /// Makes the event of a grant, ready to be published.
    /// - Parameter repeatOf: The submission that asked for this copy of the event; nil for the grant's own submission.
    ///   It adds one header behind the others; key, value and all other headers are the same bytes.
    public static func event(of grant: Grant, repeatOf submission: SubmissionID? = nil) -> Event {
        let grantID = grant.key.grantID
        let id = id(of: grantID)
        var headers = CloudEvent.headers(
            id: id, type: typeHeader, subject: grant.transactionID.rawValue, time: grant.grantedAt,
            traceparent: grant.claimant.traceparent)
        if let submission { headers.append(RecordHeader(repeatHeader, submission.rawValue)) }
        let value =
            switch grant.format {
            case .v1: valueV1(of: grant, id: id, grantID: grantID)
            }
        return Event(id: id, topic: .granted, key: Array(grant.userID.rawValue.utf8), headers: headers, value: value)
    }

    private static func valueV1(of grant: Grant, id: EventID, grantID: GrantID) -> [UInt8] {
        var body = JSONObjectWriter()
        body.member("bundleId", grant.bundleID.rawValue)
        body.member("currency", grant.payment?.currency)
        body.member("environment", grant.environment.rawValue)
        body.member("eventId", id.rawValue)
        body.member("expiresAt", grant.expiresAt)
        body.member("grantId", grantID.rawValue)
        body.member("grantedAt", grant.grantedAt)
        body.member("items", objects: grant.items) { item, object in
            object.member("item", item.item)
            object.member("quantity", Int64(item.quantity))
        }
        if let offer = grant.offer {
            body.member("offer") { object in
                object.member("discountType", offer.discountType?.rawValue)
                object.member("kind", offer.kind.rawValue)
            }
        }
        body.member("orderId", grant.orderID?.rawValue)
        body.member("originalTransactionId", grant.originalTransactionID.rawValue)
        body.member("ownership", grant.ownership.rawValue)
        // A price says nothing without its currency.
        body.member("price", grant.payment?.currency == nil ? nil : grant.payment?.price)
        body.member("productId", grant.productID.rawValue)
        body.member("productType", grant.productType.rawValue)
        body.member("purchasedAt", grant.purchasedAt)
        body.member("quantity", Int64(grant.quantity))
        body.member("storefront", grant.payment?.storefront)
        body.member("submissionId", grant.submissionID.rawValue)
        body.member("transactionId", grant.transactionID.rawValue)
        body.member("userId", grant.userID.rawValue)
        body.member("verifiedBy", grant.verifiedBy)
        body.member("webOrderLineItemId", grant.webOrderLineItemID)
        return body.finished()
    }
}
