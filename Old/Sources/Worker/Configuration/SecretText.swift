/// A text that no description, dump or interpolation shows.
struct SecretText: Hashable, Sendable {
    private let text: String

    /// Wraps a secret.
    init(_ text: String) {
        self.text = text
    }

    /// The secret itself, for the one place that needs it.
    func revealed() -> String { text }
}

extension SecretText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "<redacted>" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
