/// The four kinds of in-app purchase, as App Store Connect has them.
///
/// The kind decides what makes a purchase the same purchase when it is seen again, see ``GrantKey``.
public enum ProductType: String, Hashable, Sendable, CaseIterable {
    case consumable
    case nonConsumable
    case nonRenewing
    case autoRenewable
}

/// Something a player gets, and how much of it.
public struct Item: Hashable, Sendable {
    /// The platform's own name of the thing, such as `gems`.
    public let item: String
    /// How much of it; at least 1.
    public let quantity: Int

    /// Pairs a thing with how much of it.
    public init(item: String, quantity: Int) {
        self.item = item
        self.quantity = quantity
    }
}

/// One unit of a product, with its items.
public struct Product: Hashable, Sendable {
    /// The product's identifier in App Store Connect.
    public let id: ProductID
    /// Its kind; Apple's receipts do not say it, so the catalogue does.
    public let type: ProductType
    /// The items that one unit gives.
    public let items: [Item]

    /// A product of an app's catalogue.
    public init(id: ProductID, type: ProductType, items: [Item]) {
        self.id = id
        self.type = type
        self.items = items
    }

    /// The items that so many units give; nil if a number grows beyond `Int`.
    public func items(times quantity: Int) -> [Item]? {
        if quantity == 1 { return items }
        var all: [Item] = []
        all.reserveCapacity(items.count)
        for item in items {
            let (product, overflow) = item.quantity.multipliedReportingOverflow(by: quantity)
            guard !overflow else { return nil }
            all.append(Item(item: item.item, quantity: product))
        }
        return all
    }
}
