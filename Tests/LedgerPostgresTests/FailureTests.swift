import Ledger
import PostgresTesting
import Synchronization
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite struct FailureTests {
    @Test(
        "A state that may pass is unavailable, one that ended the session is known as such, and a person mends the rest",
        arguments: [
            // state, while running, at opening
            ("08006", "disconnected", "unavailable"), ("57P01", "disconnected", "unavailable"),
            ("57P03", "disconnected", "unavailable"), ("25P03", "disconnected", "unavailable"),
            ("40P01", "unavailable", "unavailable"), ("40001", "unavailable", "unavailable"),
            ("57014", "unavailable", "unavailable"), ("55P03", "unavailable", "unavailable"),
            ("53100", "unavailable", "unavailable"), ("53200", "unavailable", "unavailable"),
            ("53300", "unavailable", "unavailable"), ("25006", "disconnected", "unavailable"),
            ("58030", "unavailable", "unavailable"), ("XX000", "unavailable", "unavailable"),
            ("42501", "unavailable", "unusable"), ("28P01", "unavailable", "unusable"),
            ("3D000", "disconnected", "unusable"), ("42P01", "disconnected", "unusable"),
            ("42703", "disconnected", "unusable"), ("26000", "disconnected", "unusable"),
            ("0A000", "disconnected", "unusable"), ("XX001", "unusable", "unusable"),
            ("42601", "unusable", "unusable"), ("23505", "unusable", "unusable"),
            ("23514", "unusable", "unusable"), ("22021", "unusable", "unusable"),
        ])
    func dispositions(state: String, running: String, opening: String) {
        let error = PostgresFailure.server(state: state, message: "words", statement: 3)
        #expect(error.error(at: "postgres://a/b", isOpening: false).word == running)
        #expect(error.error(at: "postgres://a/b", isOpening: true).word == opening)
        #expect(error.error(at: "postgres://a/b", isOpening: true).detail.hasPrefix("postgres://a/b: "))
        #expect(error.text.hasSuffix("words (PostgreSQL \(state))"))
        #expect(error.isWorthAnotherTry == ["40001", "40P01", "55P03"].contains(state))
        #expect(error.isForData == ["23514", "22021"].contains(state))
    }

    @Test("A connection that broke means that every partition is taken over anew, once there was one")
    func broken() {
        for failure in [PostgresFailure.lost("words"), .deadline, .closed, .unknownCommit] {
            #expect(failure.error(at: "", isOpening: false).word == "disconnected")
            #expect(failure.error(at: "", isOpening: true).word == "unavailable")
        }
        for failure in [PostgresFailure.unreachable("words"), .readOnly(isStandby: true)] {
            for isOpening in [false, true] {
                #expect(failure.error(at: "", isOpening: isOpening).word == "unavailable")
            }
        }
    }

    @Test("A file or a schema that is not there keeps a worker from its start, and one that ran waits for it")
    func settings() {
        let failure = PostgresFailure.options("the file of the password is empty")
        #expect(failure.error(at: "", isOpening: true).word == "unusable")
        #expect(failure.error(at: "", isOpening: false).word == "unavailable")
        let unfit = PostgresFailure.unfit("no schema of the search path is there")
        #expect(unfit.error(at: "", isOpening: true).word == "unusable")
        #expect(unfit.error(at: "", isOpening: false).word == "unavailable")
        let another = PostgresFailure.another("it is another ledger")
        #expect(another.error(at: "", isOpening: false).word == "unusable")
    }

    @Test("The round trips of a call share its limit", .timeLimit(.minutes(5)))
    func limitOfACall() throws {
        var settings = PostgresSettings.forTests
        settings.call = .seconds(1)
        let connection = try connect(nil, settings)
        let end = failure {
            try connection.call { () throws(PostgresFailure) in
                while true { try connection.run([PostgresStatement("SELECT pg_sleep(0.1)")]) }
            }
        }
        #expect(end == .deadline && connection.isClosed)
    }

    @Test("After its deadline a connection is closed, and the server ends what it was doing", .timeLimit(.minutes(5)))
    func deadline() throws {
        let server = try PostgresServer.shared
        var settings = PostgresSettings.forTests
        let connection = try connect(nil, settings)
        let backend = connection.backend
        connection.close()
        #expect(failure { try connection.run("SELECT 1") } == .closed)
        settings.call = .milliseconds(300)
        let hasty = try connect(nil, settings)
        let slow = hasty.backend
        #expect(backend != slow)
        #expect(failure { try hasty.run("SELECT pg_sleep(3600)") } == .deadline)
        #expect(hasty.isClosed && failure { try hasty.run("SELECT 1") } == .closed)
        #expect(failure { try hasty.script("SELECT 1") } == .closed)
        // The server looks every second; each question waits a little.
        while try server.run("SELECT pg_sleep(0.02) FROM pg_stat_activity WHERE pid = \(slow)") != nil {}
    }

    @Test("The server ends a statement and a wait for a lock that take too long; the connection goes on")
    func serverLimits() throws {
        let url = try PostgresServer.shared.createDatabase("limits")
        let holder = try connect(url)
        try holder.script("CREATE TABLE a (x bigint)")
        try holder.script("BEGIN; LOCK TABLE a")
        var settings = PostgresSettings.forTests
        settings.lock = .milliseconds(1)
        let waiting = try connect(url, settings)
        let locked = failure { try waiting.run("SELECT count(*) FROM a") }
        guard case .server("55P03", _, 0) = locked else { throw try #require(locked) }
        let sleeping = ["BEGIN", "SET LOCAL statement_timeout = 20", "SELECT pg_sleep(3600)"]
        let late = failure { try waiting.run(sleeping.map { PostgresStatement($0) }) }
        guard case .server("57014", _, 2) = late else { throw try #require(late) }
        #expect(late?.text.hasPrefix("a statement took too long") == true)
        #expect(try waiting.number("SELECT 2") == 2)
    }

    @Test("A call that meets a held lock ends with the server's word, well before its own end")
    func lockHeld() throws {
        let settings = PostgresSettings()
        let locked = PostgresFailure.server(state: "55P03", message: "", statement: 0)
        var (tries, left) = (0, settings.call)
        repeat {
            tries += 1
            left -= settings.lock
        } while PostgresLedger.isWorthAnotherTry(locked, after: tries, left: left, lock: settings.lock)
        #expect(tries == 2 && left >= settings.lock * 2)
        let deadlock = PostgresFailure.server(state: "40P01", message: "", statement: 0)
        #expect(PostgresLedger.isWorthAnotherTry(deadlock, after: 3, left: .zero, lock: settings.lock))
        #expect(!PostgresLedger.isWorthAnotherTry(deadlock, after: 4, left: .seconds(9), lock: settings.lock))
        #expect(!PostgresLedger.isWorthAnotherTry(.deadline, after: 1, left: .seconds(9), lock: settings.lock))
    }

    @Test("A lock that is held costs no connection")
    func lockReleased() throws {
        let database = try TemporaryLedger()
        defer { withExtendedLifetime(database) {} }
        var configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        configuration.settings.lock = .milliseconds(1)
        let ledger = try PostgresLedger(configuration)
        let holder = try connect(database.server.url(database: database.database))
        try holder.script("BEGIN; LOCK TABLE retries IN SHARE MODE")
        let due = [DueRequest(endpoint: Samples.endpoint, limit: 1)]
        let error = #expect(throws: LedgerError.self) { try ledger.takeDue(due, bytes: .max) }
        #expect(error?.word == "unavailable")
        #expect(error?.detail.contains("another transaction holds a lock") == true)
        try holder.rollBack()
        #expect(try ledger.takeDue(due, bytes: .max).isEmpty)
    }

    @Test("A session that the server ends is lost, with the server's last word")
    func killed() throws {
        let server = try PostgresServer.shared
        let connection = try connect()
        try server.run("SELECT pg_terminate_backend(\(connection.backend), 180000)")
        let error = failure { try connection.run("SELECT 1") }
        guard case .lost(let text) = error else { throw try #require(error) }
        #expect(text.contains("57P01"))
        #expect(failure { try connection.run("SELECT 1") } == .closed)
        // In the midst of a statement, too.
        let other = try connect()
        let itself = failure { try other.run("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(3600)") }
        guard case .lost = itself else { throw try #require(itself) }
    }

    @Test("A server that goes away takes its connections along, and cannot be reached then")
    func away() throws {
        let server = try PostgresServer()
        let connection = try connect(server.url())
        #expect(try connection.number("SELECT 1") == 1)
        server.stop()
        let loss = failure { try connection.run("SELECT 1") }
        guard case .lost = loss else { throw try #require(loss) }
        let error = failure { _ = try connect(server.url()) }
        guard case .unreachable(let text) = error else { throw try #require(error) }
        #expect(text.contains("No such file or directory"))
    }

    @Test("A commit whose wait for standbys was ended is in doubt", .timeLimit(.minutes(5)))
    func unknownCommit() async throws {
        let server = try PostgresServer(settings: ["synchronous_standby_names = 'nobody'"])
        try server.run("SET synchronous_commit = local; CREATE TABLE a (x bigint)")
        let url = server.url()
        let writing = Task.detached {
            failure { try connect(url).run("INSERT INTO a VALUES (1)") }
        }
        let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        while try server.run(cancel) == nil {}
        #expect(await writing.value == .unknownCommit)
        #expect(try server.run("SELECT count(*) FROM a") == "1")
    }

    @Test("At opening each fault has its own words, and who has to mend it")
    func opening() throws {
        let server = try PostgresServer.shared
        try server.run("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        try server.run("CREATE ROLE reader LOGIN; ALTER ROLE reader SET default_transaction_read_only = on")
        try server.run("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1'")
        let password = server.url(user: "guarded:wrong")
        for (url, word, part) in [
            (password, "unusable", "password authentication failed for user \"guarded\" (PostgreSQL 28P01)"),
            (server.url(user: "guarded"), "unusable", "the server wants a password, and there is none"),
            (server.url(database: "none"), "unusable", "database \"none\" does not exist (PostgreSQL 3D000)"),
            (server.url(database: "latin"), "unusable", "encoding is LATIN1, not UTF8"),
            (server.url(user: "reader"), "unavailable", "default_transaction_read_only is on"),
            ("postgres://localhost:1/a?sslmode=disable", "unavailable", "Connection refused"),
        ] {
            let error = failure { _ = try connect(url) }?.error(at: "the server", isOpening: true)
            #expect(error?.word == word && error?.detail.contains(part) == true, "\(String(describing: error))")
            #expect(error?.detail.contains("wrong") == false && error?.detail.contains("\n") == false)
        }
        #expect(try connect(server.url(user: "reader") + "&target_session_attrs=primary").session?.isReadOnly == true)
        var strict = PostgresSettings.forTests
        strict.demandsFsync = true
        #expect(failure { _ = try connect(server.url(), strict) }?.text.contains("without fsync") == true)
    }

    @Test("The password is asked for anew at each connect, and never beside one in the URL")
    func password() throws {
        let server = try PostgresServer(rules: ["local all asked scram-sha-256"])
        try server.run("CREATE ROLE asked LOGIN PASSWORD 'right'")
        let next = Mutex("wrong")
        let source: PasswordSource = { next.withLock { $0 } }
        let options = try PostgresOptions(url: server.url(user: "asked"), password: source)
        let error = failure { _ = try PostgresConnection(options) }
        #expect(error?.text.contains("password authentication failed") == true)
        #expect(error?.error(at: "", isOpening: true).word == "unusable")
        next.withLock { $0 = "right" }
        #expect(try PostgresConnection(options, .forTests).text("SELECT current_user::text") == "asked")
        #expect(
            failure { _ = try PostgresOptions(url: server.url(user: "a:b"), password: source) }?.text
                .contains("one of them must go") == true)
    }

    @Test("The first host that takes writes is used")
    func hosts() throws {
        let (primary, standby) = (try PostgresServer.shared, try PostgresServer(isStandby: true))
        let none = "/nonexistent"
        let url = { (folders: String...) in "postgres://postgres@/postgres?host=\(folders.joined(separator: ","))" }
        let connection = try connect(url(none, standby.folder, primary.folder))
        #expect(connection.session?.isReadOnly == false)
        let error = failure { _ = try connect(url(standby.folder, none)) }
        #expect(error?.error(at: "", isOpening: true).word == "unavailable")
        #expect(error?.text.contains("is a read-only standby") == true && error?.text.contains(none) == true)
        #expect(failure { _ = try connect(url(standby.folder)) } == .readOnly(isStandby: true))
        let reading = try connect(url(standby.folder) + "&target_session_attrs=any")
        #expect(reading.session?.isReadOnly == true)
        #expect(try reading.number("SELECT 1") == 1)
        let write = failure { try reading.run("CREATE TABLE a (x bigint)") }
        guard case .server("25006", _, 0) = write else { throw try #require(write) }
    }

    @Test("Each host's own cause is told in one line without a password, and a worker ends where all are a person's")
    func causes() throws {
        let server = try PostgresServer(rules: ["local all refused scram-sha-256"])
        try server.run("CREATE ROLE refused LOGIN PASSWORD 'right'")
        func start(_ folders: String, database: String = "postgres") -> LedgerError? {
            let ports = folders.split(separator: ",").map { _ in "\(server.port)" }.joined(separator: ",")
            let url = "postgres://refused:secret@/\(database)?host=\(folders)&port=\(ports)&connect_timeout=180"
            return failure { _ = try connect(url) }?.error(at: "", isOpening: true)
        }
        let both = start("\(server.folder),\(server.folder)")
        #expect(both?.word == "unusable" && both?.detail.split(separator: "28P01").count == 3)
        let one = start("/nonexistent,\(server.folder)")
        #expect(one?.word == "unavailable" && one?.detail.contains("28P01") == true)
        #expect(one?.detail.contains("; \(server.folder):\(server.port): ") == true)
        for error in [both, one] {
            #expect(error?.detail.contains("\n") == false && error?.detail.contains("secret") == false)
        }
    }

    @Test("Where a name has several addresses, each one's cause is told")
    func addresses() {
        let message = """
            connection to server at "db" (::1), port 5432 failed: Network is unreachable
            \tIs the server running on that host and accepting TCP/IP connections?
            connection to server at "db" (127.0.0.1), port 5432 failed: Connection refused
            \tIs the server running on that host and accepting TCP/IP connections?
            """
        let text = PostgresFailure(opening: message).text
        #expect(
            text
                == "cannot be reached: connection to server at \"db\" (::1), port 5432 failed: Network is unreachable; "
                + "connection to server at \"db\" (127.0.0.1), port 5432 failed: Connection refused")
    }

    @Test("A host that takes connections and never answers is given up after its time")
    func silence() throws {
        let listener = try SilentListener()
        let hosts = "127.0.0.1:\(listener.port),127.0.0.1:\(listener.port)"
        let options = try PostgresOptions(url: "postgres://\(hosts)/a?sslmode=disable&connect_timeout=1")
        let error = failure { _ = try PostgresConnection(options) }
        let silent = HostFailure(host: "127.0.0.1:\(listener.port)", failure: .unreachable("no answer in time"))
        #expect(error == .hosts([silent, silent]))
    }

    @Test("A server across the network proves its name before it gets a password")
    func certificates() throws {
        let server = try PostgresServer(hasNetwork: true)
        try server.run("CREATE ROLE remote LOGIN PASSWORD 'right'")
        func url(_ host: String, _ authority: String) -> String {
            "postgres://remote:right@\(host):\(server.port)/postgres?sslmode=verify-full&sslrootcert=\(authority)"
        }
        let connection = try connect(url("localhost", server.certificate))
        #expect(try connection.number("SELECT ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == 1)
        let statements = (0..<64).map { _ in
            PostgresStatement("SELECT $1::bytea") { $0.blob([UInt8](repeating: 7, count: 65_536)) }
        }
        #expect(try connection.run(statements).map { $0.first?.blob(0).count } == Array(repeating: 65_536, count: 64))
        for (url, part) in [
            (url("localhost", "/etc/ssl/certs/ca-certificates.crt"), "certificate verify failed"),
            (url("127.0.0.1", server.certificate), "does not match host name"),
        ] {
            let error = failure { _ = try connect(url) }
            #expect(error?.text.contains(part) == true, "\(String(describing: error))")
            #expect(error?.error(at: "", isOpening: true).word == "unavailable")
        }
    }
}
