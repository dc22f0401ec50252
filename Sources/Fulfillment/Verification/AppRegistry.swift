public import AppStore
public import Purchases

/// An app and the credentials it is verified with.
public struct RegisteredApp: Sendable {
    public let app: App
    /// Tried in this order, so that a secret can be rotated without a gap.
    public let sharedSecrets: [SharedSecret]

    /// An app as configured.
    public init(app: App, sharedSecrets: [SharedSecret]) {
        self.app = app
        self.sharedSecrets = sharedSecrets
    }
}

/// The apps whose purchases this worker grants.
public struct AppRegistry: Sendable {
    private let apps: [BundleID: RegisteredApp]

    /// A registry; of two apps with one bundle id the later counts, configuration refuses that before.
    public init(_ apps: [RegisteredApp]) {
        self.apps = Dictionary(apps.map { ($0.app.bundleID, $0) }) { _, later in later }
    }

    /// The app with a bundle id, if it is configured.
    public subscript(bundleID: BundleID) -> RegisteredApp? { apps[bundleID] }
}
