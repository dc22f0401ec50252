/// The identity of a purchase, the same whenever it is seen again: at most one grant exists per key, for ever.
///
/// The names are `t:<id>` for what is bought once or used up, `w:<id>` for a paid period of a subscription, and
/// `p:<id>:<milliseconds>` for a period that Apple gave no line item. Consumables and durable products share `t` on
/// purpose: a product's type that is corrected in the catalogue must not make a granted purchase look new.
public struct GrantKey: Hashable, Sendable, CustomStringConvertible {
    public let environment: Environment
    /// Unique within the environment.
    public let name: String

    /// The key of a purchase, by its kind.
    ///
    /// A restore has a new transaction id for everything but a consumable, so these go by the original's.
    public init(of purchase: Purchase, type: ProductType) {
        environment = purchase.environment
        name =
            switch type {
            case .consumable: "t:" + purchase.transactionID.rawValue
            case .nonConsumable, .nonRenewing: "t:" + purchase.originalTransactionID.rawValue
            case .autoRenewable:
                if let lineItem = purchase.webOrderLineItemID {
                    "w:" + lineItem
                } else {
                    "p:\(purchase.originalTransactionID):\(purchase.purchasedAt.milliseconds)"
                }
            }
    }

    /// A key as read from the ledger.
    public init(environment: Environment, name: String) {
        self.environment = environment
        self.name = name
    }

    /// Environment and name: `production:t:2000000123456789`.
    public var text: String { environment.rawValue + ":" + name }

    /// The id of the grant with this key.
    public var grantID: GrantID {
        GrantID(NameBasedUUID.text(namespace: NameBasedUUID.grants, name: text))
    }

    public var description: String { text }
}
