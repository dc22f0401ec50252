import Foundation

/// Small text files that a configuration is made of.
enum TextFile {
    /// Reads a file whole.
    ///
    /// - Parameter maxBytes: a larger file is refused without being held in memory.
    static func read(_ path: String, maxBytes: Int) throws(ConfigurationError) -> String {
        guard FileManager.default.fileExists(atPath: path) else { throw .file(path, .notThere) }
        guard let handle = FileHandle(forReadingAtPath: path), let data = try? read(handle, upTo: maxBytes + 1) else {
            throw .file(path, .unreadable)
        }
        guard data.count <= maxBytes else { throw .file(path, .tooLarge(limit: maxBytes)) }
        guard let text = String(validating: data, as: UTF8.self) else { throw .file(path, .notText) }
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
