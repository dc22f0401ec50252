import Foundation
import Testing

@testable import Configuration

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
