import AppStore
import AppStoreSimulator
import Fulfillment
import Purchases

extension RegisteredApp {
    /// An app with a key for the App Store Server API.
    static func withKey(
        _ app: App, receipts: ReceiptMethod = .verifyReceipt, confirmsOlderThan: Duration? = nil,
        share: Double = 1
    ) throws -> RegisteredApp {
        let key = ServerAPIKey()
        return RegisteredApp(
            app: app, sharedSecrets: [],
            serverAPI: try ServerAPICredentials(
                issuerID: key.issuerID, keyID: key.keyID, privateKeyPEM: key.privateKeyPEM),
            serverAPIShare: share, receipts: receipts, confirmsOlderThan: confirmsOlderThan)
    }
}
