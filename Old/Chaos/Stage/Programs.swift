import Foundation
import SystemTesting

/// The programs of this build, beside this one.
struct Programs: Sendable {
    let grantor: URL
    let broker: URL
    /// What has to be loaded into the broker.
    let keptMemory: URL

    /// - Throws: ``ChildProcess/Failure`` if one is missing.
    static func beside() throws -> Programs {
        let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        func program(_ product: String, _ name: String? = nil) throws -> URL {
            let file = folder.appending(path: name ?? product)
            guard FileManager.default.isReadableFile(atPath: file.path) else {
                throw ChildProcess.Failure(description: "\(file.path) is missing: swift build --product \(product)")
            }
            return file
        }
        return Programs(
            grantor: try program("grantor"), broker: try program("kafka-mock-broker"),
            keptMemory: try program("KeptMemory", "libKeptMemory.so"))
    }
}
