import Foundation

/// Small text files that a configuration is made of.
enum TextFile {
    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - maxBytes: a larger file is refused without being held in memory.
    ///   - origin: what the path was taken from, for the message of an error.
    static func read(
        _ path: String, maxBytes: Int, namedBy origin: ConfigurationError.FileOrigin
    ) throws(ConfigurationError) -> String {
        // Without waiting: opening a named pipe would last until somebody writes to it.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(path, problem(errno), namedBy: origin) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var isFolder: ObjCBool = false
        guard !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) || !isFolder.boolValue else {
            throw .file(path, .folder, namedBy: origin)
        }
        // What has no place to go to is a pipe or a socket.
        guard lseek(descriptor, 0, SEEK_CUR) >= 0 else { throw .file(path, .special, namedBy: origin) }
        guard let data = try? handle.read(upToCount: maxBytes + 1) ?? Data() else {
            throw .file(path, .unreadable, namedBy: origin)
        }
        guard data.count <= maxBytes else { throw .file(path, .tooLarge(limit: maxBytes), namedBy: origin) }
        guard let text = String(validating: data, as: UTF8.self) else { throw .file(path, .notText, namedBy: origin) }
        return text
    }

    /// As ``read(_:maxBytes:namedBy:)``, for files of secrets: a byte order mark and NUL bytes, which nobody sees in an editor and
    /// which make another secret of one, are refused.
    static func readPlain(
        _ path: String, maxBytes: Int, namedBy origin: ConfigurationError.FileOrigin
    ) throws(ConfigurationError) -> String {
        let text = try read(path, maxBytes: maxBytes, namedBy: origin)
        guard text.unicodeScalars.first != "\u{FEFF}" else { throw .file(path, .byteOrderMark, namedBy: origin) }
        guard !text.utf8.contains(0) else { throw .file(path, .nulBytes, namedBy: origin) }
        return text
    }

    /// The path as seen from another file's folder; an absolute one stays as it is.
    static func resolve(_ path: String, besides file: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        let folder = (file as NSString).deletingLastPathComponent
        return (folder as NSString).appendingPathComponent(path)
    }

    /// Whether the first name of a path is that of a folder.
    static func beginsWithFolder(_ path: String, besides file: String) -> Bool {
        let root = path.prefix { $0 == "/" }
        let rest = path.dropFirst(root.count)
        guard let slash = rest.firstIndex(of: "/") else { return false }
        var isFolder: ObjCBool = false
        let first = resolve("\(root)\(rest[..<slash])", besides: file)
        return FileManager.default.fileExists(atPath: first, isDirectory: &isFolder) && isFolder.boolValue
    }

    private static func problem(_ code: Int32) -> ConfigurationError.FileProblem {
        switch code {
        case EACCES, EPERM: .forbidden
        // A name that is too long is no file's.
        case ENOENT, ENOTDIR, ENAMETOOLONG: .notThere
        // A socket, or a device without a driver.
        case ENXIO, ENODEV: .special
        default: .unreadable
        }
    }
}
