import Purchases

/// The two apps of the run, with the same products, one of each kind.
enum Catalogue {
    /// Whose granted events are the fulfilment.
    static let bundleID: BundleID = "com.example.game"
    /// Whose inventory service is told of each grant before its event is published.
    static let toldBundleID: BundleID = "com.example.saga"
    static let gems: ProductID = "com.example.game.gems100"
    static let coins: ProductID = "com.example.game.coins500"
    static let castle: ProductID = "com.example.game.castle"
    static let season: ProductID = "com.example.game.season"
    static let vip: ProductID = "com.example.game.vip"
    /// Sold by Apple, and not in the catalogue.
    static let retired: ProductID = "com.example.game.retired"

    /// What one unit gives.
    static let items: [ProductID: Item] = [
        gems: Item(item: "gems", quantity: 100), coins: Item(item: "coins", quantity: 500),
        castle: Item(item: "castle", quantity: 1), season: Item(item: "season-pass", quantity: 1),
        vip: Item(item: "vip", quantity: 1),
    ]

    /// - Parameters:
    ///   - workers: that share Apple's rate limit.
    ///   - inventory: where grants are told, and the file with the secret that calls are signed with.
    static func appsFile(
        key: (issuer: String, id: String, file: String), workers: Int, inventory: (url: String, secretFile: String)
    ) -> String {
        """
        apps:
        \(app(bundleID, key, workers))\
        \(app(toldBundleID, key, workers))\
            fulfillment: {url: "\(inventory.url)", secretFiles: [\(inventory.secretFile)], timeout: 3s, maxInFlight: 50}

        """
    }

    private static func app(
        _ bundleID: BundleID, _ key: (issuer: String, id: String, file: String), _ workers: Int
    ) -> String {
        """
          - bundleId: \(bundleID)
            sharedSecretFiles: [shared-secret]
            serverAPI: {issuerId: \(key.issuer), keyId: \(key.id), privateKeyFile: \(key.file), share: \(1.0 / Double(workers))}
            sandbox: {policy: accept}
            receipts: verifyReceipt
            products:
              - {id: \(gems), type: consumable, items: [{item: gems, quantity: 100}]}
              - {id: \(coins), type: consumable, items: [{item: coins, quantity: 500}]}
              - {id: \(castle), type: nonConsumable, items: [{item: castle, quantity: 1}]}
              - {id: \(season), type: nonRenewing, items: [{item: season-pass, quantity: 1}]}
              - {id: \(vip), type: autoRenewable, items: [{item: vip, quantity: 1}]}

        """
    }
}
