public import AppStore
public import Contract

/// An app of the apps file: the rules that its purchases are granted by, and its credentials.
public struct ConfiguredApp: Hashable, Sendable {
    public let app: App
    /// Tried in this order. Empty if none is configured: Apple asks for one only where there are subscriptions.
    public let sharedSecrets: [SharedSecret]
    public let receipts: ReceiptMethod
    /// Nil if the app has no key; then nothing can be looked up.
    public let serverAPI: ServerAPIAccess?
    /// Nil if events alone tell of the app's grants.
    public let inventory: InventoryService?

    /// The app as verifying its purchases needs it. Each call makes one with tokens of its own, so keep it.
    public func makeRules() -> AppRules {
        AppRules(
            app: app, receipts: receipts, sharedSecrets: sharedSecrets, serverAPI: serverAPI?.credentials,
            confirmsSignedTransactionsOlderThan: serverAPI?.confirmsSignedTransactionsOlderThan)
    }
}

/// An app's access to the App Store Server API.
public struct ServerAPIAccess: Hashable, Sendable {
    public let credentials: ServerAPICredentials
    /// This worker's part of the calls that Apple lets the app make: above 0, at most 1.
    public let share: Double
    /// Age from which on a signed transaction is looked up before it is granted; nil for never.
    public let confirmsSignedTransactionsOlderThan: Duration?
}

/// A platform's own service that is told of each of an app's grants before its event is published.
public struct InventoryService: Hashable, Sendable {
    /// `https`, or `http` to this host.
    public let url: String
    /// Each signs every call: one, or two while they are replaced.
    public let secrets: [SecretText]
    /// For one call.
    public let timeout: Duration
    /// Most calls at once.
    public let maxCalls: Int
    /// The authorities that the service's certificate may come from; nil for the system's.
    public let caFile: CertificateFile?
}

/// The apps of the apps file, as they were when it was read. An unchanging value: a worker that reads the file again
/// gets another one.
public struct ConfiguredApps: Hashable, Sendable {
    static let maxApps = 1000

    /// In the file's order; at least one.
    public let all: [ConfiguredApp]
    private let byBundleID: [BundleID: ConfiguredApp]

    /// Reads the apps file that the settings name.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        try self.init(file: try values.value(Settings.appsFile), namedBy: values.place(Settings.appsFile.name))
    }

    /// Reads an apps file, and the files that it names.
    ///
    /// - Throws: for the first mistake. Callers that have apps already go on with them.
    public init(file: String) throws(ConfigurationError) {
        try self.init(file: file, namedBy: .setting(Settings.appsFile.name))
    }

    private init(file: String, namedBy place: ConfigurationError.Place) throws(ConfigurationError) {
        let root = try YAMLMapping(file: file, namedBy: place)
        try root.allow(["apps"])
        guard let entries = try root.mappings("apps"), (1...Self.maxApps).contains(entries.count) else {
            throw .refused(root.place("apps"), requirement: "a list of 1 to \(Self.maxApps) apps")
        }
        var all: [ConfiguredApp] = []
        var byBundleID: [BundleID: ConfiguredApp] = [:]
        for entry in entries {
            let app = try AppReading(entry, file: file).app()
            guard byBundleID.updateValue(app, forKey: app.app.bundleID) == nil else {
                throw .refused(entry.place("bundleId"), requirement: "unlike that of any app before it")
            }
            all.append(app)
        }
        self.all = all
        self.byBundleID = byBundleID
    }

    /// The bundle ids of the apps file that the settings name. No file that it names is read, so that people may look into
    /// a ledger without the right to read secrets.
    public static func bundleIDs(_ values: SettingValues) throws(ConfigurationError) -> [BundleID] {
        let root = try YAMLMapping(
            file: try values.value(Settings.appsFile), namedBy: values.place(Settings.appsFile.name))
        var bundleIDs: [BundleID] = []
        for entry in try root.mappings("apps") ?? [] {
            bundleIDs.append(BundleID(try entry.required("bundleId", .bundleID)))
        }
        return bundleIDs
    }

    /// The app of a bundle id; nil if the file has none.
    public subscript(_ bundleID: BundleID) -> ConfiguredApp? { byBundleID[bundleID] }
}
