/// Whether an app's sandbox purchases (TestFlight, App Review, developers) are granted.
public enum SandboxPolicy: Hashable, Sendable {
    /// Everybody's; the grant and its event say `sandbox`.
    case accept
    /// No purchases of the sandbox.
    case reject
    /// Only those of the listed users.
    case users(Set<UserID>)

    /// Whether a sandbox purchase of this user may be granted.
    public func allows(_ user: UserID) -> Bool {
        switch self {
        case .accept: true
        case .reject: false
        case .users(let listed): listed.contains(user)
        }
    }
}

/// How the attested and the claimed account token must fit together.
///
/// The app sets the token when it starts a purchase (`appAccountToken` of StoreKit). Apple has no token for purchases
/// that began in the App Store, for offer codes, and for clients that set none.
public enum AccountTokenPolicy: String, Hashable, Sendable, CaseIterable {
    /// The claim must name the token that Apple attests, if Apple attests one. A claim without it is held.
    case match
    /// The claim must name the attested token, and a purchase without an attested token is not granted.
    case required
    /// Tokens are not looked at.
    case ignore
}

/// The end of a purchase that Apple attests, of a product that the catalogue does not list.
public enum UnlistedProductsPolicy: String, Hashable, Sendable, CaseIterable {
    /// It is held: the catalogue may be late. Beside purchases that are granted it is passed over.
    case hold
    /// It fails: the catalogue is whole.
    case fail
}

/// Whether a repeat publishes the granted event once more.
public enum RepeatPolicy: String, Hashable, Sendable, CaseIterable {
    /// The same event, marked by the header `grantor-repeat-of`.
    case publish
    /// Nothing is published; the ledger says which grant answers the submission.
    case ignore
}

/// How receipts are decided on while Apple's verifyReceipt does not reply.
public enum VerifyReceiptOutagePolicy: String, Hashable, Sendable, CaseIterable {
    /// They wait until it replies.
    case wait
    /// Apple's signature on the receipt is enough for that time; the event says `local`.
    case local
}

/// An app and the rules that its purchases are granted by. Its credentials are kept elsewhere.
public struct App: Hashable, Sendable {
    /// The products that may be granted.
    public enum Products: Hashable, Sendable {
        /// Every attested product, as one unit of an item of its own name.
        case any
        /// The listed products, each with its items.
        case catalogue([ProductID: Product])
    }

    public let bundleID: BundleID
    public let sandbox: SandboxPolicy
    /// Whether purchases shared within a family are granted to the member who claims them.
    public let acceptsFamilySharing: Bool
    public let products: Products
    /// Of products that a catalogue does not list.
    public let unlistedProducts: UnlistedProductsPolicy
    public let accountToken: AccountTokenPolicy
    public let repeats: RepeatPolicy
    public let whenVerifyReceiptUnavailable: VerifyReceiptOutagePolicy

    public init(
        bundleID: BundleID, sandbox: SandboxPolicy, products: Products,
        unlistedProducts: UnlistedProductsPolicy = .hold, acceptsFamilySharing: Bool = false,
        accountToken: AccountTokenPolicy = .match, repeats: RepeatPolicy = .publish,
        whenVerifyReceiptUnavailable: VerifyReceiptOutagePolicy = .wait
    ) {
        self.bundleID = bundleID
        self.sandbox = sandbox
        self.products = products
        self.unlistedProducts = unlistedProducts
        self.acceptsFamilySharing = acceptsFamilySharing
        self.accountToken = accountToken
        self.repeats = repeats
        self.whenVerifyReceiptUnavailable = whenVerifyReceiptUnavailable
    }
}
