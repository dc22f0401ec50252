/// Whether an app's sandbox purchases (TestFlight, App Review, developers) are granted.
public enum SandboxPolicy: Hashable, Sendable {
    /// Everybody's; the grant and its event say `sandbox`.
    case accept
    /// Nobody's.
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

/// An app and the rules its purchases are granted by. Its credentials are kept elsewhere.
public struct App: Hashable, Sendable {
    public let bundleID: BundleID
    public let sandbox: SandboxPolicy
    /// Whether purchases shared within a family are granted to the member who claims them.
    public let acceptsFamilySharing: Bool
    /// What may be granted and what it gives; nil grants every attested product under its own id.
    public let products: [ProductID: Product]?

    /// An app as configured.
    public init(
        bundleID: BundleID, sandbox: SandboxPolicy = .accept, acceptsFamilySharing: Bool = false,
        products: [ProductID: Product]? = nil
    ) {
        self.bundleID = bundleID
        self.sandbox = sandbox
        self.acceptsFamilySharing = acceptsFamilySharing
        self.products = products
    }
}
