public import Contract
import Cryptography

/// A row of `products`: the items that one unit of an app's product gave at the time.
public struct StoredProduct: Hashable, Sendable {
    public let bundleID: BundleID
    public let product: Product

    public init(bundleID: BundleID, product: Product) {
        self.bundleID = bundleID
        self.product = product
    }

    public init(of grant: Grant) { self.init(bundleID: grant.bundleID, product: grant.product) }

    /// By its id, which differs for nearly all products.
    public func hash(into hasher: inout Hasher) { hasher.combine(product.id) }

    /// The row's number: the first 63 bits of the SHA-256 of its content, so that every worker computes the same one.
    public var number: Int64 {
        var content: [UInt8] = []
        for part in [bundleID.rawValue, product.id.rawValue, product.type.rawValue, itemsText] {
            content.append(contentsOf: "\(part.utf8.count):".utf8)
            content.append(contentsOf: part.utf8)
        }
        let digest = SHA256.hash(content)
        return digest.withUnsafeBytes { Int64($0.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1) }
    }

    /// The items in a column: `100:4:gems,1:7:booster`, each with its quantity and the length of its name in UTF-8.
    public var itemsText: String {
        product.items.map { "\($0.quantity):\($0.item.utf8.count):\($0.item)" }.joined(separator: ",")
    }

    /// The items in a column; nil for a text of another form.
    public static func items(text: String) -> [Item]? {
        var items: [Item] = []
        var rest = text.utf8[...]
        func number() -> Int? {
            guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), let digits = String(rest[..<colon]) else {
                return nil
            }
            rest = rest[rest.index(after: colon)...]
            return Int(digits)
        }
        while !rest.isEmpty {
            guard let quantity = number(), let count = number(), count >= 0, count <= rest.count else { return nil }
            let end = rest.index(rest.startIndex, offsetBy: count)
            guard let name = String(rest[..<end]) else { return nil }
            items.append(Item(item: name, quantity: quantity))
            guard end < rest.endIndex else { break }
            guard rest[end] == UInt8(ascii: ",") else { return nil }
            rest = rest[rest.index(after: end)...]
        }
        return items
    }
}
