import AppStore
import Fulfillment
import Purchases

/// An app of the apps file: the rules that its purchases are granted by, and its credentials.
struct ConfiguredApp: Hashable, Sendable {
    let app: App
    /// Apple's numeric id of the app. Checked and kept; no evidence of this version names it.
    let appAppleID: Int64?
    /// Tried in order. Empty if none is configured: Apple asks for one only where there are subscriptions.
    let sharedSecrets: [SecretText]
    /// Nil if none are configured: then nothing can be looked up.
    let serverAPI: ServerAPICredentials?
    /// This worker's part of what Apple lets the app ask: above 0, at most 1.
    let serverAPIShare: Double
    /// How receipts of this app are verified.
    let receipts: ReceiptMethod
    /// Age at which a signed transaction is looked up before it is granted; nil for never.
    let confirmSignedTransactionsOlderThan: Duration?
    /// Who is told of its grants before their events are published; nil for nobody.
    let inventory: InventoryService?
}
