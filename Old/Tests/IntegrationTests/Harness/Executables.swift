import Foundation

/// Programs that a test starts.
enum Executables {
    /// A program is not where it has to be; says what makes it.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The package's root.
    static var checkout: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    /// A program that the package manager built together with these tests.
    static func built(_ name: String) throws -> URL {
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        var folders = [tests, URL(filePath: CommandLine.arguments[0])].map { $0.deletingLastPathComponent() }
        folders += folders.map { $0.deletingLastPathComponent() }
        let candidates = folders.map { $0.appending(path: name) }
        guard let found = candidates.first(where: isExecutable) else {
            throw Missing(description: "\(name) is not beside the tests (\(tests.path)): run swift build")
        }
        return found
    }

    /// A program that `scripts/setup.sh --for test` installed; the path starts at `.venv`.
    static func installed(_ pattern: [String]) throws -> URL {
        var folder = checkout.appending(path: ".venv")
        for part in pattern {
            guard let prefix = part.split(separator: "*", omittingEmptySubsequences: false).first, part.contains("*")
            else {
                folder.append(path: part)
                continue
            }
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
            folder.append(path: names?.sorted().first { $0.hasPrefix(prefix) } ?? part)
        }
        guard isExecutable(folder) else {
            throw Missing(description: "\(folder.path) is missing: run scripts/setup.sh --for test")
        }
        return folder
    }

    private static func isExecutable(_ file: URL) -> Bool {
        FileManager.default.isExecutableFile(atPath: file.path)
    }
}
