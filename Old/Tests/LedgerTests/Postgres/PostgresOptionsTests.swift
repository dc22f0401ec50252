import Testing

@testable import Ledger

@Suite struct PostgresOptionsTests {
    private func completed(_ url: String) throws -> [String: String] {
        try #require(PostgresOptions(url: url)).completed(
            connectTimeout: .seconds(5), silence: .seconds(30), systemCertificates: "/ca.crt"
        ).values
    }

    @Test(arguments: ["postgres://db.example.com/game", "postgres://10.0.0.1,localhost/game"])
    func aHostElsewhereHasToProveItsName(url: String) throws {
        #expect(try completed(url)["sslmode"] == "verify-full")
        #expect(try completed(url)["sslrootcert"] == "/ca.crt")
    }

    @Test(arguments: ["postgres:///game", "postgres://localhost/game", "postgres:///game?host=/run/postgresql"])
    func thisHostNeedNot(url: String) throws {
        #expect(try completed(url)["sslmode"] == nil)
    }

    /// Pieces of a password that is not encoded would be shown as hosts and ports.
    @Test(arguments: ["postgres://worker:pa@ss@db/game", "postgres://worker:pa/ss@db/game", "postgres://db:0x1/game"])
    func hostsAndPortsThatAreNoneAreRefused(url: String) {
        #expect(PostgresOptions(url: url) == nil)
    }

    @Test func theURLHasTheLastWord() throws {
        let options = try completed(
            "postgres://db/game?sslmode=require&application_name=mine&keepalives_idle=99&client_encoding=LATIN1")
        #expect(options["sslmode"] == "require")
        #expect(options["application_name"] == "mine")
        #expect(options["keepalives_idle"] == "99")
        #expect(options["client_encoding"] == "UTF8", "texts are UTF-8 whatever is asked for")
    }

    @Test func silenceIsBoundedBelowTheOperation() throws {
        #expect(try completed("postgres://db/game")["tcp_user_timeout"] == "30000")
    }

    @Test func aListOfHostsIsBegunAtTheNextOne() throws {
        let options = try #require(PostgresOptions(url: "postgres://a:1,b:2,c:3/game"))
        #expect(options.rotated(by: 0) == options)
        #expect(options.rotated(by: 4).values["host"] == "b,c,a")
        #expect(options.rotated(by: 4).values["port"] == "2,3,1")
        #expect(try completed("postgres://a,b/game")["target_session_attrs"] == "read-write")
    }

    @Test(arguments: [
        ("host", "a,b", "/dev/null,/dev/null"), ("hostaddr", "10.0.0.1,,10.0.0.3", "/dev/null,/dev/null,/dev/null"),
    ])
    func placesThatTheEnvironmentNamesLeadNowhereToo(name: String, list: String, nowhere: String) throws {
        let options = try #require(PostgresOptions(url: "postgres:///game?port=1,2"))
        let led = options.leadingNowhere(ambient: [name: list]).values
        #expect(led == ["dbname": "game", "port": "1,2", name: nowhere])
        #expect(options.leadingNowhere(ambient: [:]).values["host"] == "/dev/null")
    }

    @Test(arguments: [
        ("postgres://worker:secret@db:5433/game?sslmode=require", "postgres://worker@db:5433/game"),
        ("postgres://a:1,b:2/game", "postgres://a:1,b:2/game"), ("postgres:///game", "postgres:///game"),
    ])
    func thePlaceIsWithoutAPassword(url: String, place: String) throws {
        #expect(try #require(PostgresOptions(url: url)).place == place)
    }

    @Test(arguments: ["postgres://db/game?nonsense=1", "postgres://[::1/game", "postgres://a%ZZ@db/game"])
    func whatLibpqCannotReadIsNothing(url: String) {
        #expect(PostgresOptions(url: url) == nil)
    }
}
