import Foundation
import Glibc

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
        // The system's own word: what may not be looked at would otherwise count as not there.
        guard access(path, R_OK) == 0 else {
            throw .file(path, errno == EACCES ? .forbidden : .notThere, namedBy: origin)
        }
        var isFolder: ObjCBool = false
        guard !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) || !isFolder.boolValue else {
            throw .file(path, .folder, namedBy: origin)
        }
        guard let handle = FileHandle(forReadingAtPath: path), let data = try? read(handle, upTo: maxBytes + 1) else {
            throw .file(path, .unreadable, namedBy: origin)
        }
        guard data.count <= maxBytes else { throw .file(path, .tooLarge(limit: maxBytes), namedBy: origin) }
        guard let text = String(validating: data, as: UTF8.self) else { throw .file(path, .notText, namedBy: origin) }
        return text
    }

    /// The path as seen from another file's folder; an absolute one stays as it is.
    static func resolve(_ path: String, besides file: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        let folder = (file as NSString).deletingLastPathComponent
        return (folder as NSString).appendingPathComponent(path)
    }

    private static func read(_ handle: FileHandle, upTo count: Int) throws -> Data {
        defer { try? handle.close() }
        return try handle.read(upToCount: count) ?? Data()
    }
}
