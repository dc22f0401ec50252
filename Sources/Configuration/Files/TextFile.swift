import Glibc

/// Small text files that a configuration is made of.
enum TextFile {
    /// Reads a regular file whole.
    ///
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
        guard let bytes = bytes(of: descriptor, upTo: maxBytes + 1) else { throw refused(.unreadable) }
        guard bytes.count <= maxBytes else { throw refused(.tooLarge(limit: maxBytes)) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw refused(.notText) }
        return text
    }

    /// As ``read(_:maxBytes:namedBy:)``, for files with secrets.
    ///
    /// A byte order mark and NUL bytes are refused: no editor shows them, and they make another secret of one.
    static func readPlain(
        _ path: String, maxBytes: Int, namedBy place: ConfigurationError.Place?
    ) throws(ConfigurationError) -> String {
        let text = try read(path, maxBytes: maxBytes, namedBy: place)
        guard text.unicodeScalars.first != "\u{FEFF}" else { throw .file(path, .byteOrderMark, namedBy: place) }
        guard !text.utf8.contains(0) else { throw .file(path, .nulBytes, namedBy: place) }
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

    /// At most so many bytes; nil if the file cannot be read.
    private static func bytes(of descriptor: Int32, upTo limit: Int) -> [UInt8]? {
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
