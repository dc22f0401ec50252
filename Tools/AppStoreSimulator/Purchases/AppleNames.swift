internal import Contract

extension ProductType {
    /// `type` in signed data.
    var signedName: String {
        switch self {
        case .consumable: "Consumable"
        case .nonConsumable: "Non-Consumable"
        case .nonRenewing: "Non-Renewing Subscription"
        case .autoRenewable: "Auto-Renewable Subscription"
        }
    }

    /// `productType` of a query of the App Store Server API.
    init?(queryName: String) {
        switch queryName {
        case "CONSUMABLE": self = .consumable
        case "NON_CONSUMABLE": self = .nonConsumable
        case "NON_RENEWABLE": self = .nonRenewing
        case "AUTO_RENEWABLE": self = .autoRenewable
        default: return nil
        }
    }
}

extension Environment {
    /// `environment` in signed data and in answers.
    var signedName: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        }
    }
}

extension Ownership {
    /// Its name in receipts' answers and in signed data.
    var answeredName: String {
        switch self {
        case .purchased: "PURCHASED"
        case .familyShared: "FAMILY_SHARED"
        }
    }
}

extension SimulatedPurchase {
    /// Every simulated subscription is of one group.
    static let subscriptionGroup = "20000001"
}
