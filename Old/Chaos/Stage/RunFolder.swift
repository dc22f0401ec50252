import Foundation

/// A folder for a run's files, kept until it is removed on purpose.
struct RunFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "grantor-chaos-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() throws {
        try FileManager.default.removeItem(at: url)
    }
}
