internal import Contract

/// As `POST /simulator/receipts` takes it: ids are texts, dates RFC 3339, and members with a default may be left out.
extension ReceiptSpecification: Codable {
    private enum CodingKeys: String, CodingKey {
        case bundleID = "bundleId"
        case environment
        case purchases
        case creationDate
        case targetSize
    }

    /// Reads the object that the remote control takes.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            bundleID: BundleID(try members.decode(String.self, forKey: .bundleID)),
            environment: try members.decode(ReceiptEnvironment.self, forKey: .environment),
            purchases: try members.decode([SimulatedPurchase].self, forKey: .purchases),
            creationDate: try members.moment(.creationDate),
            targetSize: try members.decodeIfPresent(Int.self, forKey: .targetSize))
    }

    /// Writes the object that the remote control takes.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(bundleID.rawValue, forKey: .bundleID)
        try members.encode(environment, forKey: .environment)
        try members.encode(purchases, forKey: .purchases)
        try members.encode(creationDate.rfc3339, forKey: .creationDate)
        try members.encodeIfPresent(targetSize, forKey: .targetSize)
    }
}

extension ReceiptEnvironment: Codable {}
extension SimulatedPurchase.Placement: Codable {}

extension SimulatedPurchase: Codable {
    private enum CodingKeys: String, CodingKey {
        case transactionID = "transactionId"
        case originalTransactionID = "originalTransactionId"
        case productID = "productId"
        case kind
        case quantity
        case purchasedAt
        case originalPurchasedAt
        case expiresAt
        case cancelledAt
        case cancellationReason
        case webOrderLineItemID = "webOrderLineItemId"
        case ownership
        case appAccountToken
        case isUpgraded
        case placement
    }

    /// Reads the object that the remote control takes.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            transactionID: TransactionID(try members.decode(String.self, forKey: .transactionID)),
            originalTransactionID: try members.decodeIfPresent(String.self, forKey: .originalTransactionID)
                .map { .init($0) },
            productID: ProductID(try members.decode(String.self, forKey: .productID)),
            kind: try members.choice(.kind) ?? .consumable,
            quantity: try members.decodeIfPresent(Int.self, forKey: .quantity) ?? 1,
            purchasedAt: try members.moment(.purchasedAt),
            originalPurchasedAt: try members.momentIfPresent(.originalPurchasedAt),
            expiresAt: try members.momentIfPresent(.expiresAt),
            cancelledAt: try members.momentIfPresent(.cancelledAt),
            cancellationReason: try members.decodeIfPresent(String.self, forKey: .cancellationReason),
            webOrderLineItemID: try members.decodeIfPresent(Int64.self, forKey: .webOrderLineItemID),
            ownership: try members.choice(.ownership) ?? .purchased,
            appAccountToken: try members.decodeIfPresent(String.self, forKey: .appAccountToken),
            isUpgraded: try members.decodeIfPresent(Bool.self, forKey: .isUpgraded) ?? false,
            placement: try members.decodeIfPresent(Placement.self, forKey: .placement))
    }

    /// Writes the object that the remote control takes.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(transactionID.rawValue, forKey: .transactionID)
        try members.encode(originalTransactionID.rawValue, forKey: .originalTransactionID)
        try members.encode(productID.rawValue, forKey: .productID)
        try members.encode(kind.rawValue, forKey: .kind)
        try members.encode(quantity, forKey: .quantity)
        try members.encode(purchasedAt.rfc3339, forKey: .purchasedAt)
        try members.encode(originalPurchasedAt.rfc3339, forKey: .originalPurchasedAt)
        try members.encodeIfPresent(expiresAt?.rfc3339, forKey: .expiresAt)
        try members.encodeIfPresent(cancelledAt?.rfc3339, forKey: .cancelledAt)
        try members.encodeIfPresent(cancellationReason, forKey: .cancellationReason)
        try members.encodeIfPresent(webOrderLineItemID, forKey: .webOrderLineItemID)
        try members.encode(ownership.rawValue, forKey: .ownership)
        try members.encodeIfPresent(appAccountToken, forKey: .appAccountToken)
        try members.encode(isUpgraded, forKey: .isUpgraded)
        try members.encode(placement, forKey: .placement)
    }
}
