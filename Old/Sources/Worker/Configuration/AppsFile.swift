import Fulfillment
import Purchases

/// Reads the apps file: every app with its credentials, sandbox policy and catalogue, strictly.
enum AppsFile {
    static let maxBytes = 4 << 20
    static let maxApps = 1000
    static let maxSharedSecrets = 10

    /// The apps in the file's order; at least one, no bundle id twice.
    ///
    /// - Parameter path: paths in the file are absolute or relative to its folder.
    static func load(_ path: String) throws(ConfigurationError) -> [ConfiguredApp] {
        let text = try TextFile.read(path, maxBytes: maxBytes, namedBy: .key(.appsFile))
        let root = try YAMLMapping(document: text, file: path)
        try root.allow(["apps"])
        guard let entries = try root.mappings("apps"), (1...maxApps).contains(entries.count) else {
            throw .invalidMember(root.place("apps"), requirement: "a list of 1 to \(maxApps) apps")
        }
        var apps: [ConfiguredApp] = []
        var seen: Set<BundleID> = []
        for entry in entries {
            let app = try app(entry, file: path)
            guard seen.insert(app.app.bundleID).inserted else {
                throw .invalidMember(entry.place("bundleId"), requirement: "unlike that of any app before it")
            }
            apps.append(app)
        }
        return apps
    }

    private static func app(_ entry: YAMLMapping, file: String) throws(ConfigurationError) -> ConfiguredApp {
        try entry.allow([
            "bundleId", "appAppleId", "sharedSecretFiles", "serverAPI", "sandbox", "receipts",
            "confirmSignedTransactionsOlderThan", "familySharing", "products", "fulfillment",
        ])
        let app = App(
            bundleID: BundleID(try bundleID(entry)), sandbox: try sandbox(entry),
            acceptsFamilySharing: try acceptsFamilySharing(entry), products: try Catalogue.products(entry))
        let configured = ConfiguredApp(
            app: app, appAppleID: try appAppleID(entry), sharedSecrets: try sharedSecrets(entry, file: file),
            serverAPI: try serverAPI(entry, file: file), serverAPIShare: try serverAPIShare(entry),
            receipts: try receipts(entry),
            confirmSignedTransactionsOlderThan: try confirmation(entry), inventory: try inventory(entry, file: file))
        try checkNeeds(of: configured, entry)
        return configured
    }

    /// What needs a key of the App Store Server API must have one.
    private static func checkNeeds(of app: ConfiguredApp, _ entry: YAMLMapping) throws(ConfigurationError) {
        guard app.serverAPI == nil else { return }
        if app.receipts == .serverAPI {
            throw .invalidMember(entry.place("receipts"), requirement: "another unless serverAPI is set")
        }
        if app.confirmSignedTransactionsOlderThan != nil {
            throw .invalidMember(
                entry.place("confirmSignedTransactionsOlderThan"), requirement: "left out unless serverAPI is set")
        }
    }

    private static func bundleID(_ entry: YAMLMapping) throws(ConfigurationError) -> String {
        guard let text = try entry.text("bundleId"), (1...155).contains(text.utf8.count),
            text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || ".-".contains($0)) })
        else {
            throw .invalidMember(entry.place("bundleId"), requirement: "set: 1-155 letters, digits, '.' and '-'")
        }
        return text
    }

    private static func appAppleID(_ entry: YAMLMapping) throws(ConfigurationError) -> Int64? {
        guard let text = try entry.text("appAppleId") else { return nil }
        guard let number = Int64(text), number > 0 else {
            throw .invalidMember(entry.place("appAppleId"), requirement: "a whole number above 0")
        }
        return number
    }

    private static func sandbox(_ entry: YAMLMapping) throws(ConfigurationError) -> SandboxPolicy {
        guard let sandbox = try entry.mapping("sandbox") else { return .accept }
        try sandbox.allow(["policy", "users"])
        let users = try sandbox.texts("users")
        switch (try sandbox.text("policy"), users) {
        case ("accept", nil): return .accept
        case ("reject", nil): return .reject
        case ("accept", .some), ("reject", .some):
            throw .invalidMember(sandbox.place("users"), requirement: "left out unless the policy is users")
        case ("users", .some(let users)) where !users.isEmpty && users.allSatisfy { (1...128).contains($0.count) }:
            return .users(Set(users.map { UserID($0) }))
        case ("users", _):
            throw .invalidMember(sandbox.place("users"), requirement: "a list of user ids of 1-128 characters")
        default:
            throw .invalidMember(sandbox.place("policy"), requirement: "one of accept, reject, users")
        }
    }

    private static func receipts(_ entry: YAMLMapping) throws(ConfigurationError) -> ReceiptMethod {
        guard let text = try entry.text("receipts") else { return .verifyReceipt }
        guard let method = ReceiptMethod(rawValue: text) else {
            throw .invalidMember(entry.place("receipts"), requirement: "one of verifyReceipt, serverAPI, local")
        }
        return method
    }

    private static func acceptsFamilySharing(_ entry: YAMLMapping) throws(ConfigurationError) -> Bool {
        switch try entry.text("familySharing") {
        case nil, "reject": return false
        case "accept": return true
        default: throw .invalidMember(entry.place("familySharing"), requirement: "one of reject, accept")
        }
    }

    private static func confirmation(_ entry: YAMLMapping) throws(ConfigurationError) -> Duration? {
        let name = "confirmSignedTransactionsOlderThan"
        guard let text = try entry.text(name) else { return nil }
        guard let duration = DurationText.parse(text) else {
            throw .invalidMember(entry.place(name), requirement: "a duration, such as 90s, 15m or 24h")
        }
        return duration
    }
}
