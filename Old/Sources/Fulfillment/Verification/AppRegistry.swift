public import AppStore
public import Purchases

/// How an app's receipts are verified.
public enum ReceiptMethod: String, Sendable, CaseIterable {
    /// Apple's verifyReceipt is asked: deprecated by Apple, and the only one that tells of refunds without a key.
    case verifyReceipt
    /// The receipt's signature is checked here, then the App Store Server API is asked for its transactions.
    case serverAPI
    /// The receipt's signature is checked here, and nobody is asked: what Apple took back since is not seen.
    case local
}

/// An app and the credentials it is verified with.
public struct RegisteredApp: Sendable {
    public let app: App
    /// Tried in this order, so that a secret can be rotated without a gap.
    public let sharedSecrets: [SharedSecret]
    /// Nil if the app has no key: what needs one waits.
    let serverAPI: ServerAPIAccess?
    /// Whether the App Store Server API can be asked for it.
    public var hasServerAPIKey: Bool { serverAPI != nil }
    public let receipts: ReceiptMethod
    /// Signed transactions that were signed longer ago than this are looked up before they are granted; nil for never.
    public let confirmsOlderThan: Duration?
    /// Who is told of its grants before their events are published; nil for nobody.
    public let inventory: InventoryService?

    /// An app as configured.
    ///
    /// - Parameter serverAPIShare: this worker's part of what Apple lets the app ask, above 0 and at most 1.
    public init(
        app: App, sharedSecrets: [SharedSecret], serverAPI: ServerAPICredentials? = nil, serverAPIShare: Double = 1,
        receipts: ReceiptMethod = .verifyReceipt, confirmsOlderThan: Duration? = nil,
        inventory: InventoryService? = nil
    ) {
        self.app = app
        self.sharedSecrets = sharedSecrets
        self.serverAPI = serverAPI.map {
            ServerAPIAccess(credentials: $0, bundleID: app.bundleID, share: serverAPIShare)
        }
        self.receipts = receipts
        self.confirmsOlderThan = confirmsOlderThan
        self.inventory = inventory
    }
}

/// The apps whose purchases this worker grants.
public struct AppRegistry: Sendable {
    private let apps: [BundleID: RegisteredApp]

    /// A registry; of two apps with one bundle id the later counts, configuration refuses that before.
    public init(_ apps: [RegisteredApp]) {
        self.apps = Dictionary(apps.map { ($0.app.bundleID, $0) }) { _, later in later }
    }

    /// All apps, by bundle id.
    public var all: [RegisteredApp] { apps.values.sorted { $0.app.bundleID < $1.app.bundleID } }

    /// The app with a bundle id, if it is configured.
    public subscript(bundleID: BundleID) -> RegisteredApp? { apps[bundleID] }
}
