import Foundation
import Testing

@testable import Ledger

@Suite struct PostgresSettingsTests {
    /// What is wrong with a URL; nil if nothing is.
    private func problem(_ url: String) throws -> String? {
        let options = try #require(PostgresOptions(url: url))
        do throws(PostgresFailure) {
            try PostgresSettings(options: options).check()
            return nil
        } catch {
            guard case .misconfigured(let text) = error else { return "\(error)" }
            return text
        }
    }

    @Test(arguments: [
        "postgres://worker@db.example.com/game", "postgres://a:1,b:2/game?target_session_attrs=read-write",
        "postgres:///game?host=/run/postgresql", "postgres://worker@10.0.0.1/game?sslmode=require",
        "postgres:///game?hostaddr=10.0.0.1,10.0.0.2&port=1,2", "postgres://a:1,b:2/game?hostaddr=10.0.0.1,10.0.0.2",
        "postgres://w@db/game?passfile=/dev/null", "postgres://w:canary@db/game?passfile=/nowhere/p",
    ])
    func whatAServerCouldAnswerIsLeftToIt(url: String) throws {
        #expect(try problem(url) == nil)
    }

    @Test(arguments: [
        ("sslmode=bogus", "invalid sslmode value: …"),
        ("target_session_attrs=canary", "invalid target_session_attrs value: …"),
        ("port=1&host=a,b,c&port=1,2", "could not match 2 port numbers to 3 hosts"),
        ("host=a,b,c&hostaddr=10.0.0.1", "could not match 3 host names to 1 hostaddr values"),
    ])
    func whatLibpqRefusesIsToldWithoutItsValue(query: String, words: String) throws {
        #expect(
            try problem("postgres://worker@/game?\(query)") == "libpq does not take the ledger's settings: \(words)")
    }

    @Test func namesOfOptionsAreToldAndValuesAreNot() {
        let text = #"invalid integer value "canary" for connection option "port""#
        #expect(PostgresSettings.withoutValues(text) == #"invalid integer value … for connection option "port""#)
    }

    @Test(
        arguments: [
            ("*:*:*:w:canary\n", 0o600, nil), ("# none\n\n  \n", 0o600, "holds no password"),
            ("", 0o600, "holds no password"),
            ("\u{FEFF}*:*:*:w:canary", 0o600, "begins with a byte order mark"),
            ("*:*:*:w:can\0ary", 0o600, "has NUL bytes in it"),
            (
                "*:*:*:w:canary\n", 0o640,
                "may be read by others, and is left aside by libpq for that; its mode must be 0600"
            ),
        ] as [(String, Int, String?)])
    func aPasswordFileIsLookedAt(text: String, mode: Int, words: String?) throws {
        let file = "\(NSTemporaryDirectory())passwords-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        #expect(try problem("postgres://w@db/game?passfile=\(file)") == words.map { "the password file \(file) \($0)" })
    }

    @Test func filesThatAreNotThereAreNamed() throws {
        #expect(
            try problem("postgres://w@db/game?passfile=/nowhere/p")
                == "the password file /nowhere/p cannot be read: No such file or directory")
        #expect(
            try problem("postgres://w@db/game?sslmode=verify-full&sslrootcert=/nowhere/ca")
                == "the certificates of sslrootcert, /nowhere/ca, cannot be read: No such file or directory")
        #expect(try problem("postgres://w@db/game?passfile=/tmp") == "the password file /tmp is not a file")
    }
}
