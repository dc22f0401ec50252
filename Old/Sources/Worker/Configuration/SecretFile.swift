/// Files that hold a secret: a shared secret, a signing secret, a private key.
enum SecretFile {
    static let maxBytes = 4 << 10

    /// Reads a secret, without the line breaks at its end.
    ///
    /// What nobody sees in an editor and would make it another secret is refused, and never shown.
    static func read(
        _ path: String, namedBy origin: ConfigurationError.FileOrigin
    ) throws(ConfigurationError) -> String {
        let text = try TextFile.readPlain(path, maxBytes: maxBytes, namedBy: origin)
        if let problem = problem(text) { throw .file(path, problem, namedBy: origin) }
        return String(text[...(text.lastIndex { !$0.isNewline } ?? text.startIndex)])
    }

    private static func problem(_ text: String) -> ConfigurationError.FileProblem? {
        if text.isEmpty { return .empty }
        if text.unicodeScalars.contains(where: { $0.isInvisible && !["\n", "\r", "\t"].contains($0) }) {
            return .invisible
        }
        return text.allSatisfy(\.isWhitespace) ? .blank : nil
    }
}
