/// An app's or account's shared secret for verifyReceipt. It does not show itself in any description or dump.
public struct SharedSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// For the request's body only.
    let text: String

    /// Wraps a secret as App Store Connect shows it.
    public init(_ text: String) {
        self.text = text
    }

    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
