public import AppStore
import Glibc

/// The bytes of files that are short enough to be held.
package enum WholeFile {
    /// Reads from where a descriptor stands to the end, at most so many bytes.
    /// - Returns: nil if a read fails; errno says why.
    package static func bytes(of descriptor: Int32, upTo limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < limit {
            let count = Glibc.read(descriptor, &chunk, min(chunk.count, limit - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }
}

enum TextFile {
    /// Reads a regular file whole.
    /// - Parameters:
    ///   - maxBytes: a larger file is refused without being held in memory.
    ///   - place: the value that names the file; nil for the command line.
    static func read(
        _ path: String, maxBytes: Int, namedBy place: ConfigurationError.Place?
    ) throws(ConfigurationError) -> String {
        func refused(_ problem: ConfigurationError.FileProblem) -> ConfigurationError {
            .file(path, problem, namedBy: place)
        }
        // Without waiting: opening a named pipe would last until somebody writes to it.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw refused(problem(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw refused(.unreadable) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw refused(.folder)
        default: throw refused(.special)
        }
        guard let bytes = WholeFile.bytes(of: descriptor, upTo: maxBytes + 1) else { throw refused(.unreadable) }
        guard bytes.count <= maxBytes else { throw refused(.tooLarge(limit: maxBytes)) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw refused(.notText) }
        return text
    }

    /// As ``read(_:maxBytes:namedBy:)``, for files with secrets.
    ///
    /// A byte order mark and NUL bytes are refused: no editor shows them, and with them the secret is another one. A
    /// path that names no file may be the secret itself, written instead of its path. So it is shown only if it begins
    /// with an existing folder.
    /// - Parameters:
    ///   - path: absolute, or relative to the folder of `file`; without `file` to the working directory.
    ///   - place: nil for a path that named a file before, which is always shown.
    static func readPlain(
        _ path: String, besides file: String = "", maxBytes: Int, namedBy place: ConfigurationError.Place?
    ) throws(ConfigurationError) -> String {
        let resolved = resolve(path, besides: file)
        let text: String
        do throws(ConfigurationError) {
            text = try read(resolved, maxBytes: maxBytes, namedBy: place)
        } catch {
            let isMissing = error == .file(resolved, .notThere, namedBy: place)
            guard isMissing, let place, !beginsWithFolder(path, besides: file) else { throw error }
            let folder = file.lastIndex(of: "/").map { file[..<$0] } ?? "the working directory"
            throw .refused(
                place, requirement: "the path of a file, absolute or relative to \(folder), and there is no such file")
        }
        guard text.unicodeScalars.first != "\u{FEFF}" else { throw .file(resolved, .byteOrderMark, namedBy: place) }
        guard !text.utf8.contains(0) else { throw .file(resolved, .nulBytes, namedBy: place) }
        return text
    }

    /// The path as seen from another file's folder; an absolute one stays as it is.
    static func resolve(_ path: String, besides file: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return String(file[...slash]) + path
    }

    /// Whether the first name of a path is that of a folder that is there.
    static func beginsWithFolder(_ path: String, besides file: String) -> Bool {
        let root = path.prefix { $0 == "/" }
        let rest = path.dropFirst(root.count)
        guard let slash = rest.firstIndex(of: "/") else { return false }
        var status = stat()
        return stat(resolve("\(root)\(rest[..<slash])", besides: file), &status) == 0
            && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func problem(_ code: Int32) -> ConfigurationError.FileProblem {
        switch code {
        case EACCES, EPERM: .forbidden
        // No file has a name that is too long.
        case ENOENT, ENOTDIR, ENAMETOOLONG: .notThere
        // A socket, or a device without a driver.
        case ENXIO, ENODEV: .special
        default: .unreadable
        }
    }
}

/// Files that hold a secret: a shared secret, a signing secret, a private key.
enum SecretFile {
    static let maxBytes = 4 << 10

    /// Reads a secret that a file of settings names, without the line breaks at its end.
    ///
    /// Characters that no editor shows are refused, because they make another secret of one.
    /// - Parameter path: absolute, or relative to the folder of `file`.
    static func read(
        _ path: String, besides file: String, namedBy place: ConfigurationError.Place
    ) throws(ConfigurationError) -> String {
        let text = try TextFile.readPlain(path, besides: file, maxBytes: maxBytes, namedBy: place)
        if let problem = problem(text) {
            throw .file(TextFile.resolve(path, besides: file), problem, namedBy: place)
        }
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

/// A file that holds a password and nothing else, for a driver that reads it at each connect.
public struct PasswordFile: Hashable, Sendable {
    let path: String
    let place: ConfigurationError.Place

    /// Its mode does not matter: containers mount secrets as files that a group or all may read.
    public func read() throws(ConfigurationError) -> String {
        let password = try SecretFile.read(path, besides: "", namedBy: place)
        guard !password.contains(where: \.isNewline) else { throw .file(path, .severalLines, namedBy: place) }
        return password
    }
}

/// A text that no description, dump or interpolation shows.
public struct SecretText: Hashable, Sendable, RedactedSecret {
    private let text: String

    public init(_ text: String) { self.text = text }

    /// The secret itself, for the one caller that needs it.
    public func revealed() -> String { text }
}

/// The path of a PEM file with certificates. The file was there, and held at least one, when the settings were read.
public struct CertificateFile: Hashable, Sendable, CustomStringConvertible {
    public let path: String

    public var description: String { path }

    /// A system's whole bundle is about 220 KB.
    private static let maxBytes = 2 << 20

    static func read(_ path: String, namedBy place: ConfigurationError.Place) throws(ConfigurationError) -> Self {
        let text = try TextFile.read(path, maxBytes: maxBytes, namedBy: place)
        guard text.contains("-----BEGIN CERTIFICATE-----") else { throw .file(path, .noCertificate, namedBy: place) }
        return CertificateFile(path: path)
    }
}

/// The root certificates that signed data must chain to.
public struct RootCertificates: Sendable {
    /// Where they were read; nil for Apple's, which are built in.
    public let path: String?
    public let roots: TrustedRoots

    static func read(_ path: String, namedBy place: ConfigurationError.Place) throws(ConfigurationError) -> Self {
        let text = try TextFile.read(path, maxBytes: TrustedRoots.maxBytes, namedBy: place)
        do throws(TrustError) {
            return RootCertificates(path: path, roots: try TrustedRoots(pem: text))
        } catch {
            throw .file(path, .noRoots(detail: error.detail), namedBy: place)
        }
    }

    /// Apple's own.
    static func apple(namedBy place: ConfigurationError.Place) throws(ConfigurationError) -> Self {
        do throws(TrustError) {
            return RootCertificates(path: nil, roots: try .apple())
        } catch {
            throw .refused(place, requirement: "set: the built-in certificates are damaged")
        }
    }
}
