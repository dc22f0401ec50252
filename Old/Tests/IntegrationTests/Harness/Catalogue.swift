import Purchases

/// Names in the apps file.
enum Catalogue {
    static let bundleID: BundleID = "com.example.game"
    static let gems: ProductID = "com.example.game.gems100"
    static let coins: ProductID = "com.example.game.coins500"
    static let castle: ProductID = "com.example.game.castle"
    static let season: ProductID = "com.example.game.season"
    static let vip: ProductID = "com.example.game.vip"
}
