/// A text that no description, dump or interpolation shows.
public struct SecretText: Hashable, Sendable {
    private let text: String

    /// Wraps a secret.
    public init(_ text: String) {
        self.text = text
    }

    /// The secret itself, for the one place that needs it.
    public func revealed() -> String { text }
}

extension SecretText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
