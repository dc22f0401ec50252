import Purchases

/// Reads an app's product list.
enum Catalogue {
    static let maxProducts = 10_000
    static let maxItems = 100
    /// Largest quantity of an item per unit, so that units times quantity cannot overflow.
    static let maxQuantity = 1_000_000_000

    /// The products by their id. Nil without a list: everything attested is granted. An empty list could be meant as
    /// everything or as nothing, so it is an error.
    static func products(_ app: YAMLMapping) throws(ConfigurationError) -> [ProductID: Product]? {
        guard let entries = try app.mappings("products") else { return nil }
        guard (1...maxProducts).contains(entries.count) else {
            let requirement = "a list of 1 to \(maxProducts) products, or left out to grant everything"
            throw .invalidMember(app.place("products"), requirement: requirement)
        }
        var products: [ProductID: Product] = [:]
        for entry in entries {
            let product = try product(entry)
            guard products.updateValue(product, forKey: product.id) == nil else {
                throw .invalidMember(entry.place("id"), requirement: "unlike that of any product before it")
            }
        }
        return products
    }

    private static func product(_ entry: YAMLMapping) throws(ConfigurationError) -> Product {
        try entry.allow(["id", "type", "items"])
        guard let id = try entry.text("id"), (1...255).contains(id.utf8.count),
            id.unicodeScalars.allSatisfy({ (0x21...0x7E).contains($0.value) })
        else {
            throw .invalidMember(entry.place("id"), requirement: "set: 1-255 printable ASCII characters without spaces")
        }
        guard let word = try entry.text("type"), let type = ProductType(rawValue: word) else {
            let types = ProductType.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidMember(entry.place("type"), requirement: "one of \(types)")
        }
        guard let entries = try entry.mappings("items"), (1...maxItems).contains(entries.count) else {
            throw .invalidMember(entry.place("items"), requirement: "a list of 1 to \(maxItems) items")
        }
        var items: [Item] = []
        for entry in entries {
            let item = try item(entry)
            guard !items.contains(where: { $0.item == item.item }) else {
                throw .invalidMember(entry.place("item"), requirement: "unlike that of any item before it")
            }
            items.append(item)
        }
        return Product(id: ProductID(id), type: type, items: items)
    }

    private static func item(_ entry: YAMLMapping) throws(ConfigurationError) -> Item {
        try entry.allow(["item", "quantity"])
        guard let item = try entry.text("item"), item.count <= 128,
            !item.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw .invalidMember(entry.place("item"), requirement: "set: 1-128 characters, without control characters")
        }
        guard let text = try entry.text("quantity"), let quantity = Int(text), (1...maxQuantity).contains(quantity)
        else {
            throw .invalidMember(entry.place("quantity"), requirement: "a whole number from 1 to \(maxQuantity)")
        }
        return Item(item: item, quantity: quantity)
    }
}
