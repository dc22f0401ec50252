public import Contract

/// An app with everything that verifying its purchases needs. Immutable except for the tokens of its key, and shared.
public final class AppRules: Sendable {
    public let app: App
    public let receipts: ReceiptMethod
    /// Tried in this order, so that a secret can be rotated without a gap.
    let sharedSecrets: [SharedSecret]
    /// Nil if the app has no key for the App Store Server API.
    let mint: TokenMint?
    /// Age from which on a signed transaction is asked about before it is granted; nil for never.
    let confirmsSignedTransactionsOlderThan: Duration?

    /// An app as configured.
    /// - Parameter serverAPI: The app's key; nil if it has none, and then nothing is confirmed or asked about.
    public init(
        app: App, receipts: ReceiptMethod, sharedSecrets: [SharedSecret] = [], serverAPI: ServerAPICredentials? = nil,
        confirmsSignedTransactionsOlderThan: Duration? = nil
    ) {
        self.app = app
        self.receipts = receipts
        self.sharedSecrets = sharedSecrets
        mint = serverAPI.map { TokenMint(credentials: $0, bundleID: app.bundleID) }
        self.confirmsSignedTransactionsOlderThan = mint == nil ? nil : confirmsSignedTransactionsOlderThan
    }

    public var hasServerAPIKey: Bool { mint != nil }

    /// Every endpoint that a new submission of this app may be asked about at. A receipt that waits may be in the style
    /// of iOS 6, and is still asked about at verifyReceipt.
    public var endpoints: [Endpoint] {
        Environment.allCases.flatMap { environment in
            [receipts == .verifyReceipt ? .verifyReceipt(environment) : nil, serverAPI(environment)].compactMap { $0 }
        }
    }

    /// Whether Apple's reply may lag behind a purchase. It may if the submission claims everything new in a receipt,
    /// and Apple was asked about the receipt.
    public func repliesMayLag(for submission: Submission) -> Bool {
        guard case .receipt = submission.evidence else { return false }
        return submission.claim.transactionID == nil && receipts != .local
    }

    /// Nil if the app has no key.
    func serverAPI(_ environment: Environment) -> Endpoint? {
        mint == nil ? nil : Endpoint(.serverAPI, environment, key: app.bundleID.rawValue)
    }
}

extension Endpoint {
    /// The deprecated endpoint of an environment. It replies 200 whatever it thinks of a shared secret, so all apps
    /// share its state.
    public static func verifyReceipt(_ environment: Environment) -> Endpoint { Endpoint(.verifyReceipt, environment) }
}
