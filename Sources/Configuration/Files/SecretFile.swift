/// Files that hold a secret: a shared secret, a signing secret, a private key.
enum SecretFile {
    static let maxBytes = 4 << 10

    /// Reads a secret that a file of settings names, without the line breaks at its end.
    ///
    /// Characters that no editor shows are refused, because they make another secret of one. So is a path that names no
    /// file; it is shown only if it begins with a folder that is there, because it may be the secret itself, written
    /// where its path belongs.
    ///
    /// - Parameter path: absolute, or relative to the folder of `file`.
    static func read(
        _ path: String, besides file: String, namedBy place: ConfigurationError.Place
    ) throws(ConfigurationError) -> String {
        let resolved = TextFile.resolve(path, besides: file)
        let text: String
        do throws(ConfigurationError) {
            text = try TextFile.readPlain(resolved, maxBytes: maxBytes, namedBy: place)
        } catch {
            guard case .file(_, .notThere, _) = error, !TextFile.beginsWithFolder(path, besides: file) else {
                throw error
            }
            throw .refused(place, requirement: "the path of a file, and there is no such file")
        }
        if let problem = problem(text) { throw .file(resolved, problem, namedBy: place) }
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
