internal import Contract

/// As `POST /simulator/signed-transactions` takes it. Members with a default may be left out, and null leaves the
/// member out of the signed data.
extension TransactionSpecification: Codable {
    private enum CodingKeys: String, CodingKey {
        case bundleID = "bundleId"
        case environment
        case purchase
        case price
        case currency
        case storefront
        case storefrontID = "storefrontId"
        case transactionReason
        case appTransactionID = "appTransactionId"
        case changes
    }

    /// Reads the object that the remote control takes.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        guard let environment: Environment = try members.choice(.environment) else {
            throw DecodingError.dataCorruptedError(
                forKey: .environment, in: members, debugDescription: "production or sandbox is needed")
        }
        self.init(
            try members.decode(SimulatedPurchase.self, forKey: .purchase),
            bundleID: BundleID(try members.decode(String.self, forKey: .bundleID)), environment: environment,
            transactionReason: try members.decodeIfPresent(String.self, forKey: .transactionReason),
            appTransactionID: try members.decodeIfPresent(String.self, forKey: .appTransactionID),
            changes: try members.decodeIfPresent([MemberChange].self, forKey: .changes) ?? [])
        if members.contains(.price) { price = try members.decode(Int64?.self, forKey: .price) }
        if members.contains(.currency) { currency = try members.decode(String?.self, forKey: .currency) }
        if members.contains(.storefront) { storefront = try members.decode(String?.self, forKey: .storefront) }
        if members.contains(.storefrontID) { storefrontID = try members.decode(String?.self, forKey: .storefrontID) }
    }

    /// Writes the object that the remote control takes.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(bundleID.rawValue, forKey: .bundleID)
        try members.encode(environment.rawValue, forKey: .environment)
        try members.encode(purchase, forKey: .purchase)
        try members.encode(price, forKey: .price)
        try members.encode(currency, forKey: .currency)
        try members.encode(storefront, forKey: .storefront)
        try members.encode(storefrontID, forKey: .storefrontID)
        try members.encode(transactionReason, forKey: .transactionReason)
        try members.encode(appTransactionID, forKey: .appTransactionID)
        try members.encode(changes, forKey: .changes)
    }
}

/// As `POST /simulator/transactions` takes it.
extension Registration: Codable {
    private enum CodingKeys: String, CodingKey {
        case transaction
        case appearance
        case status
    }

    /// Reads the object that the remote control takes.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decode(TransactionSpecification.self, forKey: .transaction),
            appearance: try members.decodeIfPresent(Appearance.self, forKey: .appearance) ?? .atOnce,
            status: try members.decodeIfPresent(SubscriptionStatus.self, forKey: .status))
    }

    /// Writes the object that the remote control takes.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(transaction, forKey: .transaction)
        try members.encode(appearance, forKey: .appearance)
        try members.encodeIfPresent(status, forKey: .status)
    }
}
