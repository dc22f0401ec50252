import FileTesting
import Foundation
import Testing

@testable import Configuration

@Suite("Files of tokens")
struct TokensFileTests {
    private static let token = "support-tool_0123456789abcdefghij"
    private static let other = "AZaz09-._~+/=AZaz09-._~+/=AZaz09"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func problem(_ text: String) throws -> String? {
        let path = try folder.write(text, to: "tokens")
        do {
            _ = try TokensFile.read(path, namedBy: .setting(Settings.apiTokensFile.name))
            return nil
        } catch {
            return error.description
        }
    }

    @Test("A token a line; empty lines and remarks do not count")
    func read() throws {
        let path = try folder.write("# support\n\(Self.token)\n\n# backend\n\(Self.other)", to: "tokens")
        let file = try TokensFile.read(path, namedBy: .setting(Settings.apiTokensFile.name))
        #expect(file.reading(after: nil).tokens.map { $0.revealed() } == [Self.token, Self.other])
    }

    @Test("Lines may end as on Windows, and a carriage return within a line is no end of one")
    func windows() throws {
        let path = try folder.write("# support\r\n\(Self.token)\r\n\r\n\(Self.other)\r\n", to: "tokens")
        let file = try TokensFile.read(path, namedBy: .setting(Settings.apiTokensFile.name))
        #expect(file.reading(after: nil).tokens.map { $0.revealed() } == [Self.token, Self.other])
        #expect(try problem("# support\r\n\(Self.token)\r\(Self.other)\n")?.contains("line 2 is no token") == true)
    }

    @Test(
        "A line that is no token is named by its number and not shown",
        arguments: ["short", "with space 0123456789abcdefghijklmn", "umlaut-ä-0123456789abcdefghijklmn", " # remark"])
    func refused(line: String) throws {
        let text = try #require(try problem("\(Self.token)\n\(line)\n"))
        #expect(text.contains(": line 2 is no token, which has 32 to 256 letters, digits and -._~+/="))
        #expect(!text.contains(line))
    }

    @Test("A file without a token, or with too many, is refused")
    func bounds() throws {
        #expect(try problem("# none\n")?.hasSuffix("the file holds no token") == true)
        let many = (0..<101).map { "\(Self.token)\($0)\n" }.joined()
        #expect(try problem(many)?.hasSuffix("the file holds more than 100 tokens") == true)
        #expect(try problem(String(repeating: "x", count: 256) + "\n") == nil)
        #expect(try problem(String(repeating: "x", count: 257) + "\n") != nil)
        #expect(try problem(String(repeating: "\n", count: 70_000))?.contains("larger than 65536 bytes") == true)
    }

    @Test(
        "A text in the place of the path is not shown: it may be a token",
        arguments: [Self.token, "canary/with/slashes==", String(repeating: "canary", count: 42)])
    func tokenForPath(token: String) {
        let setting = ConfigurationError.Place.setting(Settings.apiTokensFile.name)
        let error = #expect(throws: ConfigurationError.self) { try TokensFile.read(token, namedBy: setting) }
        #expect(
            error?.description
                == "\(setting) must be the path of a file, absolute or relative to the working directory, and there is no "
                + "such file")
        let missing = #expect(throws: ConfigurationError.self) {
            try TokensFile.read(folder.path + "/gone", namedBy: setting)
        }
        #expect(missing?.description == "\(setting): \(folder.path)/gone: there is no such file")
    }

    @Test("A change is seen at the next reading, also one of the same length at the same moment")
    func changes() throws {
        let path = try folder.write(Self.token, to: "tokens")
        let file = TokensFile(path: path)
        let first = file.reading(after: nil)
        #expect(first.generation == 1 && file.reading(after: first).generation == 1)
        let swapped = String(Self.token.reversed())
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Data(swapped.utf8))
        try handle.close()
        let second = file.reading(after: first)
        #expect(second.generation == 2 && second.tokens.map { $0.revealed() } == [swapped])
        try FileManager.default.removeItem(atPath: path)
        let gone = file.reading(after: second)
        #expect(gone.generation == 3 && gone.tokens.isEmpty && gone.problem?.contains("there is no such file") == true)
    }

    @Test("A file that could not be used is read again, though it is old: the cause may have passed without a change")
    func failed() {
        // It is larger than a file of tokens may be.
        let reading = TokensFile(path: "/bin/sh").reading(after: nil)
        #expect(reading.problem != nil && !reading.isSettled)
    }

    @Test("A file that has not changed for a while is not read again")
    func settled() throws {
        let path = try folder.write(Self.token, to: "tokens")
        let file = TokensFile(path: path)
        #expect(!file.reading(after: nil).isSettled)
        let reading = TokensReading(
            tokens: [], problem: nil, generation: 7, stamp: FileStamp(path), isSettled: true)
        #expect(file.reading(after: reading).tokens.isEmpty)
    }
}

@Suite("The read-only API's settings")
struct APISettingsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func settings(_ environment: [String: String]) throws -> APISettings? {
        try APISettings(try SettingValues.load(file: nil, environment: environment))
    }

    @Test("It is off unless both are set")
    func both() throws {
        let path = try folder.write("support-tool_0123456789abcdefghij\n", to: "tokens")
        #expect(try settings([:]) == nil)
        let set = try settings(["GRANTOR_API_BIND": "127.0.0.1:8081", "GRANTOR_API_TOKENS_FILE": path])
        #expect(
            set == APISettings(bind: HostAndPort(host: "127.0.0.1", port: 8081), tokensFile: TokensFile(path: path)))
        for half in [["GRANTOR_API_BIND": "127.0.0.1:8081"], ["GRANTOR_API_TOKENS_FILE": path]] {
            #expect(throws: ConfigurationError.self) { try settings(half) }
        }
    }
}
