import AppStore
import Contract

/// Reads one entry of the apps file.
struct AppReading {
    let entry: YAMLMapping
    /// The apps file, which paths are relative to.
    let file: String

    init(_ entry: YAMLMapping, file: String) {
        self.entry = entry
        self.file = file
    }

    func app() throws(ConfigurationError) -> ConfiguredApp {
        try entry.allow([
            "bundleId", "sharedSecretFiles", "receipts", "familySharing", "serverAPI",
            "confirmSignedTransactionsOlderThan", "fulfillment", "products", "sandbox", "accountToken", "repeats",
            "whenVerifyReceiptUnavailable",
        ])
        let bundleID = BundleID(try entry.required("bundleId", .bundleID))
        let receipts = try entry.value("receipts", ValueForm<ReceiptMethod>.choice) ?? .verifyReceipt
        let outage = try entry.value("whenVerifyReceiptUnavailable", ValueForm<VerifyReceiptOutagePolicy>.choice)
        if outage != nil, receipts != .verifyReceipt {
            throw .refused(
                entry.place("whenVerifyReceiptUnavailable"), requirement: "left out unless receipts is verifyReceipt")
        }
        let app = App(
            bundleID: bundleID, sandbox: try sandbox(), products: try products(),
            acceptsFamilySharing: try entry.value("familySharing", ValueForm<FamilySharing>.choice) == .accept,
            accountToken: try entry.value("accountToken", .choice) ?? .match,
            repeats: try entry.value("repeats", .choice) ?? .publish, whenVerifyReceiptUnavailable: outage ?? .wait)
        let serverAPI = try serverAPI()
        if receipts == .serverAPI, serverAPI == nil {
            throw .refused(entry.place("receipts"), requirement: "another unless serverAPI is set")
        }
        return ConfiguredApp(
            app: app, sharedSecrets: try sharedSecrets(), receipts: receipts, serverAPI: serverAPI,
            inventory: try inventory())
    }

    private enum FamilySharing: String, CaseIterable {
        case reject
        case accept
    }

    private enum SandboxWord: String, CaseIterable {
        case accept
        case reject
        case users
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
