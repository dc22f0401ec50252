import Purchases

/// An app of the apps file: the rules that its purchases are granted by, and its credentials.
struct ConfiguredApp: Hashable, Sendable {
    let app: App
    /// Apple's numeric id of the app. Checked and kept; no evidence of this version needs it.
    let appAppleID: Int64?
    /// Tried in order. Empty if none is configured: Apple asks for one only where there are subscriptions.
    let sharedSecrets: [SecretText]
    /// Checked and kept; no evidence of this version needs it.
    let serverAPI: ServerAPICredentials?
    /// Age at which a signed transaction is looked up before it is granted; nil for never. Checked and kept; no
    /// evidence of this version needs it.
    let confirmSignedTransactionsOlderThan: Duration?
}

/// Credentials of the App Store Server API.
struct ServerAPICredentials: Hashable, Sendable {
    let issuerID: String
    let keyID: String
    /// The PEM text of the key file.
    let privateKey: SecretText
}
