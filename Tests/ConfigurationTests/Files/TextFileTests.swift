import Foundation
import Testing

@testable import Configuration

@Suite("Text files")
struct TextFileTests {
    @Test(
        "A path is resolved beside the file that names it, unless it is absolute",
        arguments: [
            ("secret", "/etc/grantor/apps.yaml", "/etc/grantor/secret"),
            ("secrets/one", "config/apps.yaml", "config/secrets/one"), ("secret", "apps.yaml", "secret"),
            ("/run/secret", "/etc/grantor/apps.yaml", "/run/secret"),
        ])
    func resolves(path: String, file: String, resolved: String) {
        #expect(TextFile.resolve(path, besides: file) == resolved)
    }

    @Test("A file may be as large as the limit and no larger")
    func limit() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("12345", to: "file")
        #expect(try TextFile.read(path, maxBytes: 5, namedBy: nil) == "12345")
        #expect(throws: ConfigurationError.file(path, .tooLarge(limit: 4), namedBy: nil)) {
            try TextFile.read(path, maxBytes: 4, namedBy: nil)
        }
    }

    @Test("An empty file is an empty text")
    func empty() throws {
        let folder = try TemporaryFolder()
        #expect(try TextFile.read(try folder.write("", to: "file"), maxBytes: 5, namedBy: nil) == "")
    }

    @Test("A path that leads to no file is refused without waiting for it", .timeLimit(.minutes(1)))
    func special() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        for (path, problem) in [
            (pipe, ConfigurationError.FileProblem.special), (folder.path, .folder),
            (folder.path + "/none", .notThere),
        ] {
            #expect(throws: ConfigurationError.file(path, problem, namedBy: nil)) {
                try TextFile.read(path, maxBytes: 5, namedBy: nil)
            }
        }
    }
}
