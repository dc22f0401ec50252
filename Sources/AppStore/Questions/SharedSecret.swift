/// A secret: it does not show itself in any description or dump.
public protocol RedactedSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension RedactedSecret {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An app's or account's shared secret for verifyReceipt.
public struct SharedSecret: Hashable, Sendable, RedactedSecret {
    /// For the request's body only.
    let text: String

    /// Wraps a secret as App Store Connect shows it.
    public init(_ text: String) { self.text = text }
}
