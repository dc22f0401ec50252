public import AppStore

/// An app's inventory service, which hears of each grant of the app before anybody else does.
public struct FulfilmentService: Hashable, Sendable {
    /// `https`, without user name, password, query and fragment.
    public let url: String
    /// Calls are signed with all of them: one, or two while they are rotated.
    public let secrets: [SigningSecret]
    /// For the whole call, connecting included.
    public let timeout: Duration
    /// Most calls at once from each worker.
    public let mostCalls: Int
    /// A PEM file of the only authorities to trust; nil: the system's.
    public let caFile: String?
    /// Whether it hears only of grants that owe it a call already, and of no new one.
    public let isEnding: Bool

    public init(
        url: String, secrets: [SigningSecret], timeout: Duration, mostCalls: Int, caFile: String?,
        isEnding: Bool = false
    ) {
        self.url = url
        self.secrets = secrets
        self.timeout = timeout
        self.mostCalls = mostCalls
        self.caFile = caFile
        self.isEnding = isEnding
    }
}

/// A secret by which an app's inventory service recognizes our calls. Its bytes are the HMAC key as they are.
public struct SigningSecret: Hashable, Sendable, RedactedSecret {
    let text: String

    public init(_ text: String) { self.text = text }
}
