import Purchases

/// The apps that the demo plays with.
enum DemoCatalogue {
    static let bundleID: BundleID = "com.example.game"
    static let sharedSecret = "0123456789abcdef0123456789abcdef"

    static let gems: ProductID = "com.example.game.gems100"
    static let coins: ProductID = "com.example.game.coins500"
    static let vip: ProductID = "com.example.game.vip"
    static let castle: ProductID = "com.example.game.castle"
    static let season: ProductID = "com.example.game.season"

    /// An app whose receipts are verified on the spot.
    static let localApp: BundleID = "com.example.puzzle"
    /// An app that looks up in the App Store Server API what a receipt or an old signed transaction claims.
    static let lookingUpApp: BundleID = "com.example.racer"

    static let app = app(bundleID)

    /// An app with one product of each kind, and a second consumable.
    static func app(_ bundleID: BundleID) -> App {
        App(
            bundleID: bundleID, sandbox: .accept,
            products: Dictionary(
                uniqueKeysWithValues: [
                    Product(id: gems, type: .consumable, items: [Item(item: "gems", quantity: 100)]),
                    Product(id: coins, type: .consumable, items: [Item(item: "coins", quantity: 500)]),
                    Product(id: castle, type: .nonConsumable, items: [Item(item: "castle", quantity: 1)]),
                    Product(id: season, type: .nonRenewing, items: [Item(item: "season-pass", quantity: 1)]),
                    Product(id: vip, type: .autoRenewable, items: [Item(item: "vip", quantity: 1)]),
                ].map { ($0.id, $0) }))
    }
}
