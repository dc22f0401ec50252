import Ledger
import PostgresTesting
import Testing

@testable import LedgerPostgres

/// Servers that are missing, not a ledger's, or not to be trusted, and the words of a starting worker.
@Suite struct WrongServerTests {
    @Test(
        "A URL that can bring about no connection ends the worker",
        arguments: [
            ("postgres://db:99999/grantor", "a port of the PostgreSQL URL is none"),
            ("postgres://db/grantor?sslmod=require", "it has an unknown parameter"),
            ("postgres://,/grantor", "a host of the PostgreSQL URL is none"),
            ("postgres://d b/grantor", "a host of the PostgreSQL URL is none"),
            ("postgres://kim:secret@db", "names no database"),
            ("postgres://kim:secret@db/grantor?sslmode=prefer", "sslmode of the PostgreSQL URL is none of disable"),
            (
                "postgres://kim:secret@db/grantor?sslrootcert=/none",
                "sslrootcert of the PostgreSQL URL, /none: No such file"
            ),
            ("postgres://kim:secret@db/grantor?sslcert=/none", "sslcert of the PostgreSQL URL, /none: No such file"),
        ])
    func urls(url: String, line: String) { expect(start(url), line, ends: true) }

    @Test("A server that is not there may come")
    func away() throws {
        expect(start("postgres://kim@localhost:1/grantor?sslmode=disable"), "Connection refused", ends: false)
        expect(start("postgres://kim@/grantor?host=/none"), "No such file or directory", ends: false)
        let listener = try SilentListener()
        let silent = "postgres://kim@127.0.0.1:\(listener.port)/grantor?sslmode=disable&connect_timeout=1"
        expect(start(silent), "cannot be reached: no answer in time", ends: false)
    }

    @Test("A password that is wrong, missing or not to be read ends the worker, and stands in no line")
    func passwords() throws {
        let server = try PostgresServer(rules: ["local all asked scram-sha-256"])
        try server.run("CREATE ROLE asked LOGIN PASSWORD 'right'")
        let wrong = server.url(user: "asked:secret")
        expect(start(wrong), #"password authentication failed for user "asked" (PostgreSQL 28P01)"#, ends: true)
        let url = server.url(user: "asked")
        expect(start(url), "the server wants a password, and there is none (GRANTOR_LEDGER_PASSWORD_FILE)", ends: true)
        let unread: PasswordSource = { () throws(LedgerError) in throw .unusable(detail: "/none: no such file") }
        expect(start(url, password: unread), "/postgres: /none: no such file", ends: true)
        try server.run("ALTER ROLE asked VALID UNTIL '2020-01-01'")
        expect(start(server.url(user: "asked:right")), "password authentication failed", ends: true)
    }

    @Test("A database in another encoding, and a server that does not sync, are no place for a ledger")
    func unfit() throws {
        let server = try PostgresServer.shared
        try server.run("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII'")
        let ascii = server.url(database: "ascii")
        expect(start(ascii), "the database's encoding is SQL_ASCII, not UTF8", ends: true)
        expect(start(server.url(), demandsFsync: true), "the server runs without fsync", ends: true)
    }

    @Test("A standby may be promoted, and a server that is full may have room again")
    func waiting() throws {
        let standby = try PostgresServer(isStandby: true)
        expect(start(standby.url()), "is a read-only standby; name all hosts, or the one that leads to", ends: false)
        let server = try PostgresServer(settings: ["max_connections = 5", "superuser_reserved_connections = 4"])
        try server.run("CREATE ROLE kim LOGIN")
        let held = try connect(server.url())
        let reserved = "the server has no connection left: remaining connection slots are reserved"
        expect(start(server.url(user: "kim")), reserved, ends: false)
        withExtendedLifetime(held) {}
    }

    @Test("Rules of pg_hba.conf that keep a worker out end it, with who came from where")
    func rules() throws {
        let server = try PostgresServer(
            settings: ["ssl_ca_file = '../certificate'"], hasNetwork: true,
            rules: [
                "local all banned reject", "hostssl all certified 127.0.0.1/32 cert",
            ])
        try server.run("CREATE ROLE banned LOGIN; CREATE ROLE certified LOGIN; CREATE ROLE kim LOGIN PASSWORD 'secret'")
        let rejected = #"pg_hba.conf rejects connection for host "[local]", user "banned", database "postgres""#
        expect(start(server.url(user: "banned")), rejected, ends: true)
        func url(_ user: String, _ options: String) -> String {
            "postgres://\(user)@localhost:\(server.port)/postgres?\(options)"
        }
        let plain = #"no pg_hba.conf entry for host "127.0.0.1", user "kim", database "postgres", no encryption"#
        expect(start(url("kim:secret", "sslmode=disable")), plain, ends: true)
        let trusted = "sslmode=verify-full&sslrootcert=\(server.certificate)"
        expect(start(url("certified", trusted)), "connection requires a valid client certificate", ends: true)
    }

    @Test("A server that cannot prove its name gets no password, and may have a better certificate tomorrow")
    func certificates() throws {
        let server = try PostgresServer(hasNetwork: true)
        func url(_ server: PostgresServer, _ host: String, _ authority: String? = nil) -> String {
            let authority = authority.map { "&sslrootcert=\($0)" } ?? ""
            return "postgres://kim:secret@\(host):\(server.port)/postgres?sslmode=verify-full\(authority)"
        }
        let refused =
            "certificate verify failed; the URL's sslrootcert does not know its authority, or its time is over"
        expect(start(url(server, "localhost")), refused, ends: false)
        let other = #"does not match host name "127.0.0.1""#
        expect(start(url(server, "127.0.0.1", server.certificate)), other, ends: false)
        let expired = try PostgresServer(hasNetwork: true, hasExpired: true)
        expect(start(url(expired, "localhost", expired.certificate)), refused, ends: false)
        let plain = try PostgresServer(settings: ["ssl = off"], hasNetwork: true)
        expect(start(url(plain, "localhost", plain.certificate)), "server does not support SSL", ends: false)
    }

    @Test("An old server and a pooler end the worker; a full disk does not")
    func played() throws {
        for (part, line, ends) in [
            (PlayedServer.Part.answering(version: 120_022, backend: 1), "the server's version is 120022", true),
            (.answering(version: 150_018, backend: 2), "a connection pooler stands in between", true),
            (
                .refusing(state: "08P01", text: "unsupported startup parameter in options: statement_timeout"),
                "a connection pooler stands in between", true
            ),
            (
                .refusing(state: "53100", text: "could not write init file"), "the server's disk is full: could not",
                false
            ),
            (.refusing(state: "53300", text: "sorry, too many clients"), "no connection left: sorry, too many", false),
            (.refusing(state: "57P03", text: "the database system is starting up"), "is starting up", false),
            (.refusing(state: "08P01", text: "server login has been failing"), "has been failing", false),
        ] {
            let server = try PlayedServer(part)
            defer { server.stop() }
            expect(start(server.url), line, ends: ends)
        }
    }
}
