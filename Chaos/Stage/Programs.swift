import Foundation
import SystemTesting

/// The programs of this build, beside this one.
struct Programs: Sendable {
    let grantor: URL
    let broker: URL

    /// - Throws: ``ChildProcess/Failure`` if one is missing.
    static func beside() throws -> Programs {
        let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        func program(_ name: String) throws -> URL {
            let file = folder.appending(path: name)
            guard FileManager.default.isExecutableFile(atPath: file.path) else {
                throw ChildProcess.Failure(description: "\(file.path) is missing: swift build --product \(name)")
            }
            return file
        }
        return Programs(grantor: try program("grantor"), broker: try program("kafka-mock-broker"))
    }
}
