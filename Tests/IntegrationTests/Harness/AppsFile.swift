/// The one app that all tests play with: a product of each kind.
enum AppsFile {
    /// Writes the apps file and the shared secret it names.
    static func write(in folder: TemporaryFolder) throws -> String {
        _ = try folder.write(Apple.sharedSecret + "\n", to: "shared-secret")
        return try folder.write(text, to: "apps.yaml")
    }

    static let text = """
        apps:
          - bundleId: \(Catalogue.bundleID)
            sharedSecretFiles: [shared-secret]
            sandbox: {policy: accept}
            receipts: verifyReceipt
            products:
              - {id: \(Catalogue.gems), type: consumable, items: [{item: gems, quantity: 100}]}
              - {id: \(Catalogue.coins), type: consumable, items: [{item: coins, quantity: 500}]}
              - {id: \(Catalogue.castle), type: nonConsumable, items: [{item: castle, quantity: 1}]}
              - {id: \(Catalogue.season), type: nonRenewing, items: [{item: season-pass, quantity: 1}]}
              - {id: \(Catalogue.vip), type: autoRenewable, items: [{item: vip, quantity: 1}]}

        """
}
