/// A bearer token for the App Store Server API. It does not show itself in any description or dump.
public struct BearerToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// For the request's header only.
    public let text: String
    /// Tells a token from those that its mint made before.
    let number: Int

    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
