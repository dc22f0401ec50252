import Foundation

/// A folder of one test, gone with it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "grantor-integration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A folder that cannot be removed is a leftover in the temporary folder, no reason to fail.
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a text file and tells its path.
    func write(_ text: String, to name: String) throws -> String {
        let file = url.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }
}
