import Glibc
import Scheduling

/// The path of a file with bearer tokens, one a line; empty lines and lines that begin with `#` do not count. The file
/// was there, and held at least one token, when the settings were read.
public struct TokensFile: Hashable, Sendable, CustomStringConvertible {
    static let mostTokens = 100
    /// Characters of a token. From 32 characters on nobody finds one by trying.
    static let lengths = 32...256
    private static let maxBytes = 64 << 10

    public let path: String

    public var description: String { path }

    static func read(_ path: String, namedBy place: ConfigurationError.Place) throws(ConfigurationError) -> Self {
        _ = try tokens(path, namedBy: place)
        return TokensFile(path: path)
    }

    private static func tokens(
        _ path: String, namedBy place: ConfigurationError.Place?
    ) throws(ConfigurationError) -> [SecretText] {
        let text = try TextFile.readPlain(path, maxBytes: maxBytes, namedBy: place)
        var tokens: [SecretText] = []
        // Swift takes the two characters that end a line of Windows for one.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            // The error shows no piece of the line, which may be a token except for a letter.
            guard lengths.contains(line.utf8.count), line.utf8.allSatisfy(isTokenByte) else {
                throw .file(path, .noToken(line: index + 1), namedBy: place)
            }
            tokens.append(SecretText(String(line)))
        }
        guard !tokens.isEmpty else { throw .file(path, .noTokens, namedBy: place) }
        guard tokens.count <= mostTokens else { throw .file(path, .tooManyTokens, namedBy: place) }
        return tokens
    }

    /// A character of a bearer token (RFC 6750, section 2.1).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || "-._~+/=".contains(character))
    }

    /// The tokens as they are now: read anew if the file has changed since the reading before, or may have.
    /// - Parameter before: Nil at first.
    public func reading(after before: TokensReading?) -> TokensReading {
        let stamp = FileStamp(path)
        if let before, before.isSettled, before.stamp == stamp { return before }
        var tokens: [SecretText] = []
        var problem: String?
        do throws(ConfigurationError) {
            tokens = try Self.tokens(path, namedBy: nil)
        } catch {
            problem = error.description
        }
        let isSame = before.map { $0.tokens == tokens && $0.problem == problem } ?? false
        let generation = before.map { $0.generation + (isSame ? 0 : 1) } ?? 1
        // A clock's tick is some milliseconds long, so a file can change within the tick in which it was read. A
        // problem may have another cause than the file, such as too few descriptors, and pass without a change.
        let isSettled = problem == nil && stamp.map { WallClock.milliseconds - $0.changedAt > 2_000 } ?? false
        return TokensReading(
            tokens: tokens, problem: problem, generation: generation, stamp: stamp, isSettled: isSettled)
    }
}

/// The tokens of a file at one time. A file that cannot be used has none.
public struct TokensReading: Sendable {
    public let tokens: [SecretText]
    /// Why the file cannot be used.
    public let problem: String?
    /// Rises with each change of the above.
    public let generation: Int
    let stamp: FileStamp?
    /// Whether the file was read, and a later change would show in the stamp.
    let isSettled: Bool
}

/// Changes when a file changes or is replaced.
struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Int64
    private let changed: Int64

    /// Nil where there is no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    }

    /// The latest change, in milliseconds since 1970.
    var changedAt: Int64 { max(modified, changed) / 1_000_000 }
}
