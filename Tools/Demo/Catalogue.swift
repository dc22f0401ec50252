import AppStoreSimulator
import Contract

/// The apps that the demo plays with, one for each way to verify.
enum Catalogue {
    /// Receipts go to verifyReceipt.
    static let game: BundleID = "com.example.game"
    /// Apple's signature on a receipt is enough.
    static let puzzle: BundleID = "com.example.puzzle"
    /// The App Store Server API is asked about the purchases of a receipt or an old signed transaction.
    static let racer: BundleID = "com.example.racer"

    static let gems: ProductID = "com.example.game.gems100"
    static let coins: ProductID = "com.example.game.coins500"
    static let castle: ProductID = "com.example.game.castle"
    static let season: ProductID = "com.example.game.season"
    static let vip: ProductID = "com.example.game.vip"

    static let sharedSecret = "0123456789abcdef0123456789abcdef"

    /// The apps file.
    ///
    /// - Parameters:
    ///   - keyFile: the `.p8` file of the key.
    ///   - secretFile: holds ``sharedSecret``.
    static func yaml(key: ServerAPIKey, keyFile: String, secretFile: String) -> String {
        let serverAPI = "{ issuerId: \(key.issuerID), keyId: \(key.keyID), privateKeyFile: \(keyFile) }"
        return """
            apps:
              - bundleId: \(game)
                sandbox: { policy: accept }
                sharedSecretFiles: [\(secretFile)]
                unlistedProducts: fail
                serverAPI: \(serverAPI)
            \(products)
              - bundleId: \(puzzle)
                sandbox: { policy: accept }
                receipts: local
            \(products)
              - bundleId: \(racer)
                sandbox: { policy: accept }
                receipts: serverAPI
                serverAPI: \(serverAPI)
                confirmSignedTransactionsOlderThan: 24h
            \(products)

            """
    }

    private static let products = """
            products:
              - { id: \(gems), type: consumable, items: [{ item: gems, quantity: 100 }] }
              - { id: \(coins), type: consumable, items: [{ item: coins, quantity: 500 }] }
              - { id: \(castle), type: nonConsumable, items: [{ item: castle, quantity: 1 }] }
              - { id: \(season), type: nonRenewing, items: [{ item: season-pass, quantity: 1 }] }
              - { id: \(vip), type: autoRenewable, items: [{ item: vip, quantity: 1 }] }
        """
}
