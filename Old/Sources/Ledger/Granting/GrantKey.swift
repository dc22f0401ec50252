public import Purchases

/// What makes a purchase the same purchase when it is seen again: at most one grant exists per key, for ever.
///
/// The texts are `<environment>:t:<id>` for what is bought once or used up, `<environment>:w:<id>` for a paid period
/// of a subscription, and `<environment>:p:<id>:<milliseconds>` for a period that Apple gave no line item.
/// Consumables and durable products share `t` on purpose: correcting a product's type in the catalogue must not make
/// a purchase that was granted look new.
public struct GrantKey: Hashable, Sendable, CustomStringConvertible {
    /// The key as the ledger has it.
    public let text: String

    /// The key of a purchase, by its kind.
    ///
    /// A restore mints a new transaction id for everything but a consumable, so these go by the original's.
    public init(of granted: GrantablePurchase) {
        let purchase = granted.purchase
        let name =
            switch granted.type {
            case .consumable: "t:\(purchase.transactionID)"
            case .nonConsumable, .nonRenewing: "t:\(purchase.originalTransactionID)"
            case .autoRenewable:
                if let lineItem = purchase.webOrderLineItemID {
                    "w:\(lineItem)"
                } else {
                    "p:\(purchase.originalTransactionID):\(purchase.purchasedAt.milliseconds)"
                }
            }
        text = "\(purchase.environment.rawValue):\(name)"
    }

    /// A key as read from the ledger.
    init(text: String) {
        self.text = text
    }

    /// The id of the grant with this key.
    public var grantID: GrantID {
        GrantID(NameBasedUUID.text(namespace: NameBasedUUID.grants, name: text))
    }

    public var description: String { text }
}
