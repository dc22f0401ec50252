import Contract

extension AppReading {
    static let maxProducts = 10_000
    static let maxItems = 100
    /// Largest quantity of an item per unit, so that units times quantity cannot overflow.
    static let maxQuantity = 1_000_000_000

    /// The word `any`, or a list of products. Neither has a default: a missing list could be meant as everything or as
    /// nothing.
    func products() throws(ConfigurationError) -> App.Products {
        let requirement = "a list of 1 to \(Self.maxProducts) products, or any to grant every product"
        if entry.isScalar("products") {
            guard try entry.text("products") == "any" else {
                throw .refused(entry.place("products"), requirement: requirement)
            }
            return .any
        }
        guard let entries = try entry.mappings("products"), (1...Self.maxProducts).contains(entries.count) else {
            throw .refused(entry.place("products"), requirement: requirement)
        }
        var products: [ProductID: Product] = [:]
        for entry in entries {
            let product = try Self.product(entry)
            guard products.updateValue(product, forKey: product.id) == nil else {
                throw .refused(entry.place("id"), requirement: "unlike that of any product before it")
            }
        }
        return .catalogue(products)
    }

    private static func product(_ entry: YAMLMapping) throws(ConfigurationError) -> Product {
        try entry.allow(["id", "type", "items"])
        let id = ProductID(try entry.required("id", .productID))
        let type = try entry.required("type", ValueForm<ProductType>.choice)
        guard let entries = try entry.mappings("items"), (1...maxItems).contains(entries.count) else {
            throw .refused(entry.place("items"), requirement: "a list of 1 to \(maxItems) items")
        }
        var items: [Item] = []
        for entry in entries {
            try entry.allow(["item", "quantity"])
            let item = Item(
                item: try entry.required("item", .text(maxLength: 128, "1-128 characters")),
                quantity: try entry.required("quantity", .integer(1...maxQuantity)))
            guard !items.contains(where: { $0.item == item.item }) else {
                throw .refused(entry.place("item"), requirement: "unlike that of any item before it")
            }
            items.append(item)
        }
        return Product(id: id, type: type, items: items)
    }
}

extension ValueForm<String> {
    fileprivate static var productID: Self {
        ValueForm("1-255 printable ASCII characters without spaces") { text in
            let isID = text.unicodeScalars.allSatisfy { (0x21...0x7E).contains($0.value) }
            return isID && (1...255).contains(text.utf8.count) ? text : nil
        }
    }
}
