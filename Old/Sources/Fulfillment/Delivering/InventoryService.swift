/// A platform's own service that is told of each of an app's grants before anybody else hears of it.
public struct InventoryService: Hashable, Sendable {
    /// Most secrets at a time: the one that signs, and the one that is on its way out or in.
    public static let maxSecrets = 2
    /// Calls at once, where nothing else is said.
    public static let usualInFlight = 50
    /// How long a call may take, where nothing else is said.
    public static let usualTimeout: Duration = .seconds(5)

    /// Where it is told: `https`, or `http` on this host.
    public let url: String
    /// Each signs every call; one or two.
    public let secrets: [SigningSecret]
    /// How long a call may take.
    public let timeout: Duration
    /// Most calls at once.
    public let maxInFlight: Int
    /// A PEM file of the only authorities that its certificate may come from; nil for the system's.
    public let caFile: String?

    /// A service as configured.
    public init(
        url: String, secrets: [SigningSecret], timeout: Duration = usualTimeout, maxInFlight: Int = usualInFlight,
        caFile: String? = nil
    ) {
        self.url = url
        self.secrets = secrets
        self.timeout = timeout
        self.maxInFlight = maxInFlight
        self.caFile = caFile
    }
}

/// What a call is signed with. No description, dump or interpolation shows it.
public struct SigningSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let bytes: [UInt8]

    /// Wraps a secret as both sides have it in their files.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
