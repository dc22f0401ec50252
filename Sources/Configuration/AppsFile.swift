public import AppStore
import CommandParser
public import Contract
public import Fulfilment

/// An app of the apps file: the rules that its purchases are granted by, and its credentials.
public struct ConfiguredApp: Hashable, Sendable {
    public let app: App
    /// Tried in this order. Empty if none is configured: Apple asks for one only where there are subscriptions.
    public let sharedSecrets: [SharedSecret]
    public let receipts: ReceiptMethod
    /// Nil if the app has no key; then nothing can be looked up.
    public let serverAPI: ServerAPIAccess?
    /// Hears of each grant first; nil if only events name grants.
    public let fulfilment: FulfilmentService?

    /// The app as verifying its purchases needs it. Keep it: each call makes one with tokens of its own.
    public func makeRules() -> AppRules {
        AppRules(
            app: app, receipts: receipts, sharedSecrets: sharedSecrets, serverAPI: serverAPI?.credentials,
            confirmsSignedTransactionsOlderThan: serverAPI?.confirmsSignedTransactionsOlderThan)
    }
}

public struct ServerAPIAccess: Hashable, Sendable {
    public let credentials: ServerAPICredentials
    /// The part of Apple's limit of calls for the app that the ledger's workers may use: above 0, at most 1.
    public let share: Double
    /// Age from which on a signed transaction is looked up before it is granted; nil for never.
    public let confirmsSignedTransactionsOlderThan: Duration?
}

/// The apps of the apps file, as they were when it was read. An unchanging value: a worker that reads the file again
/// gets another one.
public struct ConfiguredApps: Hashable, Sendable {
    static let maxApps = 1000
    /// Most files of authorities that inventory services name: each is a client with a thread of its own.
    static let mostAuthorities = 8

    /// In the file's order; at least one.
    public let all: [ConfiguredApp]
    private let byBundleID: [BundleID: ConfiguredApp]

    /// Reads the apps file that the settings name.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        try self.init(file: try values.value(Settings.appsFile), namedBy: values.place(Settings.appsFile.name))
    }

    /// Reads an apps file, and the files that it names.
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
        var authorities: Set<String> = []
        for entry in entries {
            let app = try AppReading(entry: entry, file: file).app()
            guard byBundleID.updateValue(app, forKey: app.app.bundleID) == nil else {
                throw .refused(entry.place("bundleId"), requirement: "unlike that of any app before it")
            }
            if let file = app.fulfilment?.caFile { authorities.insert(file) }
            guard authorities.count <= Self.mostAuthorities else {
                throw .refused(
                    entry.place("fulfillment"),
                    requirement: "without a further caFile: all apps together name \(Self.mostAuthorities) at most")
            }
            all.append(app)
        }
        self.all = all
        self.byBundleID = byBundleID
    }

    /// The bundle ids of the apps file that the settings name. No file that it names is read, so that people may look
    /// into a ledger without the right to read secrets.
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

/// Reads one entry of the apps file.
struct AppReading {
    let entry: YAMLMapping
    /// The apps file, which paths are relative to.
    let file: String

    func app() throws(ConfigurationError) -> ConfiguredApp {
        try entry.allow([
            "bundleId", "sharedSecretFiles", "receipts", "familySharing", "serverAPI",
            "confirmSignedTransactionsOlderThan", "fulfillment", "products", "sandbox", "accountToken", "repeats",
            "whenVerifyReceiptUnavailable", "unlistedProducts",
        ])
        let bundleID = BundleID(try entry.required("bundleId", .bundleID))
        let receipts = try entry.value("receipts", ValueForm<ReceiptMethod>.choice) ?? .verifyReceipt
        let outage = try entry.value("whenVerifyReceiptUnavailable", ValueForm<VerifyReceiptOutagePolicy>.choice)
        if outage != nil, receipts != .verifyReceipt {
            throw .refused(
                entry.place("whenVerifyReceiptUnavailable"), requirement: "left out unless receipts is verifyReceipt")
        }
        let products = try products()
        let unlisted = try entry.value("unlistedProducts", ValueForm<UnlistedProductsPolicy>.choice)
        if unlisted != nil, products == .any {
            throw .refused(entry.place("unlistedProducts"), requirement: "left out where products is any")
        }
        let app = App(
            bundleID: bundleID, sandbox: try sandbox(), products: products, unlistedProducts: unlisted ?? .hold,
            acceptsFamilySharing: try entry.value("familySharing", ValueForm<FamilySharing>.choice) == .accept,
            accountToken: try entry.value("accountToken", .choice) ?? .match,
            repeats: try entry.value("repeats", .choice) ?? .publish, whenVerifyReceiptUnavailable: outage ?? .wait)
        let serverAPI = try serverAPI()
        if receipts == .serverAPI, serverAPI == nil {
            throw .refused(entry.place("serverAPI"), requirement: "set, because receipts is serverAPI")
        }
        return ConfiguredApp(
            app: app, sharedSecrets: try sharedSecrets(), receipts: receipts, serverAPI: serverAPI,
            fulfilment: try fulfilment())
    }

    private enum FamilySharing: String, CaseIterable {
        case reject, accept
    }

    private enum SandboxWord: String, CaseIterable {
        case accept, reject, users
    }

    private func sandbox() throws(ConfigurationError) -> SandboxPolicy {
        guard let sandbox = try entry.mapping("sandbox") else {
            throw .refused(
                entry.place("sandbox"),
                requirement: "set: whether purchases without money are granted, such as {policy: reject}")
        }
        try sandbox.allow(["policy", "users"])
        let users = try sandbox.texts("users")
        let policy = try sandbox.required("policy", ValueForm<SandboxWord>.choice)
        guard policy == .users else {
            guard users == nil else {
                throw .refused(sandbox.place("users"), requirement: "left out unless the policy is users")
            }
            return policy == .accept ? .accept : .reject
        }
        guard let users, !users.isEmpty, users.allSatisfy({ (1...128).contains($0.count) }) else {
            throw .refused(sandbox.place("users"), requirement: "a list of user ids of 1-128 characters")
        }
        return .users(Set(users.map { UserID($0) }))
    }
}

extension ValueForm<String> {
    static var bundleID: Self {
        ValueForm("1-155 letters, digits, '.' and '-'") { text in
            let isID = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-".contains($0)) }
            return isID && (1...155).contains(text.utf8.count) ? text : nil
        }
    }
}

extension AppReading {
    static let maxProducts = 10_000
    static let maxItems = 100
    /// Largest quantity of an item per unit, so that units times quantity cannot overflow.
    static let maxQuantity = 1_000_000_000

    /// The word `any`, or a list of products. Neither has a default: a missing list could be meant as everything or as
    /// nothing.
    func products() throws(ConfigurationError) -> App.Products {
        let requirement = "a list of 1 to \(Self.maxProducts) products, or any to grant every product"
        if entry.isScalar("products") {
            guard try entry.text("products") == "any" else {
                throw .refused(entry.place("products"), requirement: requirement)
            }
            return .any
        }
        guard let entries = try entry.mappings("products"), (1...Self.maxProducts).contains(entries.count) else {
            throw .refused(entry.place("products"), requirement: requirement)
        }
        var products: [ProductID: Product] = [:]
        for entry in entries {
            let product = try Self.product(entry)
            guard products.updateValue(product, forKey: product.id) == nil else {
                throw .refused(entry.place("id"), requirement: "unlike that of any product before it")
            }
        }
        return .catalogue(products)
    }

    private static func product(_ entry: YAMLMapping) throws(ConfigurationError) -> Product {
        try entry.allow(["id", "type", "items"])
        let id = ProductID(try entry.required("id", .productID))
        let type = try entry.required("type", ValueForm<ProductType>.choice)
        guard let entries = try entry.mappings("items"), (1...maxItems).contains(entries.count) else {
            throw .refused(entry.place("items"), requirement: "a list of 1 to \(maxItems) items")
        }
        var items: [Item] = []
        for entry in entries {
            try entry.allow(["item", "quantity"])
            let item = Item(
                item: try entry.required("item", .text(maxLength: 128, "1-128 characters")),
                quantity: try entry.required("quantity", .integer(1...maxQuantity)))
            guard !items.contains(where: { $0.item == item.item }) else {
                throw .refused(entry.place("item"), requirement: "unlike that of any item before it")
            }
            items.append(item)
        }
        return Product(id: id, type: type, items: items)
    }
}

extension ValueForm<String> {
    fileprivate static var productID: Self {
        ValueForm("1-255 printable ASCII characters without spaces") { text in
            let isID = text.unicodeScalars.allSatisfy { (0x21...0x7E).contains($0.value) }
            return isID && (1...255).contains(text.utf8.count) ? text : nil
        }
    }
}

extension AppReading {
    static let maxSharedSecrets = 10
    /// A purchase can be refunded; a day later it is worth one call to know.
    static let usualConfirmationAge = Duration.seconds(24 * 3600)

    func sharedSecrets() throws(ConfigurationError) -> [SharedSecret] {
        guard let paths = try entry.texts("sharedSecretFiles") else { return [] }
        guard (1...Self.maxSharedSecrets).contains(paths.count) else {
            throw .refused(
                entry.place("sharedSecretFiles"),
                requirement: "a list of 1 to \(Self.maxSharedSecrets) files, or left out")
        }
        var secrets: [SharedSecret] = []
        for (index, path) in paths.enumerated() {
            let place = entry.place("sharedSecretFiles", at: index)
            let secret = try SecretFile.read(path, besides: file, namedBy: place)
            guard !secret.contains(where: \.isWhitespace) else {
                throw .refused(place, requirement: "a file that holds one shared secret, on one line without spaces")
            }
            secrets.append(SharedSecret(secret))
        }
        return secrets
    }

    func serverAPI() throws(ConfigurationError) -> ServerAPIAccess? {
        let confirmation = try entry.value("confirmSignedTransactionsOlderThan", .confirmationAge)
        guard let access = try entry.mapping("serverAPI") else {
            guard confirmation == nil else {
                throw .refused(
                    entry.place("confirmSignedTransactionsOlderThan"), requirement: "left out unless serverAPI is set")
            }
            return nil
        }
        try access.allow(["issuerId", "keyId", "privateKeyFile", "share"])
        return ServerAPIAccess(
            credentials: try credentials(access), share: try access.value("share", .share) ?? 1,
            confirmsSignedTransactionsOlderThan: confirmation ?? Self.usualConfirmationAge)
    }

    private func credentials(_ access: YAMLMapping) throws(ConfigurationError) -> ServerAPICredentials {
        let id = ValueForm<String>("an id as App Store Connect shows it") { $0 }
        let (issuerID, keyID) = (try access.required("issuerId", id), try access.required("keyId", id))
        let path = try access.required("privateKeyFile", .path)
        let key = try SecretFile.read(path, besides: file, namedBy: access.place("privateKeyFile"))
        do throws(ServerAPICredentialsError) {
            return try ServerAPICredentials(issuerID: issuerID, keyID: keyID, privateKeyPEM: key)
        } catch {
            switch error {
            case .wrongIssuerID: throw .refused(access.place("issuerId"), requirement: id.requirement)
            case .wrongKeyID: throw .refused(access.place("keyId"), requirement: id.requirement)
            case .notPEM, .notPrivateKey, .notP256:
                throw .refused(
                    access.place("privateKeyFile"), requirement: "a PEM file with a private key on P-256 (.p8)")
            }
        }
    }
}

extension ValueForm<Duration?> {
    /// A duration, or `never` as nil.
    fileprivate static var confirmationAge: Self {
        ValueForm("a duration with its unit, such as 90s, 15m or 24h, or never") { text in
            text == "never" ? .some(nil) : DurationText.parse(text).map { .some($0) }
        }
    }
}

extension ValueForm<Double> {
    fileprivate static var share: Self {
        ValueForm("a number above 0 and at most 1") { text in
            guard let share = Double(text), share > 0, share <= 1 else { return nil }
            return share
        }
    }
}
