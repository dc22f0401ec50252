import FileTesting
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

@Suite("Secret files")
struct SecretFileTests {
    private static let place = ConfigurationError.Place.member(file: "apps.yaml", line: 1, path: "secret")
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "A secret is the file's text without the line breaks at its end",
        arguments: [("canary", "canary"), ("canary\n", "canary"), ("canary\r\n\n", "canary"), ("a\nb\n", "a\nb")])
    func reads(text: String, secret: String) throws {
        let path = try folder.write(text, to: "secret")
        #expect(try SecretFile.read(path, besides: "", namedBy: Self.place) == secret)
    }

    @Test(
        "A file that would be another secret than the one that is seen is refused, and not shown",
        arguments: [
            (Data(), ConfigurationError.FileProblem.empty), (Data("\n".utf8), .blank), (Data(" \t\r\n".utf8), .blank),
            (Data([0xEF, 0xBB, 0xBF] + "canary".utf8), .byteOrderMark), (Data("can\0ary".utf8), .nulBytes),
            (Data("can\u{200B}ary".utf8), .invisible), (Data("canary\u{1B}".utf8), .invisible),
            (Data([0x63, 0xFF]), .notText),
        ])
    func refuses(bytes: Data, problem: ConfigurationError.FileProblem) throws {
        let path = try folder.write(bytes, to: "secret")
        let error = #expect(throws: ConfigurationError.self) {
            try SecretFile.read("secret", besides: folder.path + "/apps.yaml", namedBy: Self.place)
        }
        #expect(error == .file(path, problem, namedBy: Self.place))
        #expect(error?.description.contains("canary") == false)
    }
}

@Suite("Secret texts")
struct SecretTextTests {
    @Test("No way of printing shows the secret")
    func redacted() {
        let secret = SecretText("canary")
        var dumped = ""
        dump([secret], to: &dumped)
        for text in [
            "\(secret)", String(reflecting: secret), String(describing: [secret]), dumped, "\(Optional(secret) as Any)",
        ] {
            #expect(!text.contains("canary"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(secret.revealed() == "canary")
    }
}
