/// The one app that all tests play with: a product of each kind.
enum AppsFile {
    /// Writes the apps file and the secrets it names.
    ///
    /// - Parameter inventory: URL of the app's inventory service; nil for none.
    static func write(in folder: TemporaryFolder, inventory: String? = nil) throws -> String {
        _ = try folder.write(Apple.sharedSecret + "\n", to: "shared-secret")
        _ = try folder.write(signingSecret + "\n", to: "signing-secret")
        let fulfillment = inventory.map {
            "    fulfillment: {url: '\($0)', secretFiles: [signing-secret], timeout: 500ms, maxInFlight: 20}\n"
        }
        return try folder.write(text + (fulfillment ?? ""), to: "apps.yaml")
    }

    /// What calls to an inventory service are signed with. No log, metric or event may hold it.
    static let signingSecret = "canary-of-a-signing-secret"

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
