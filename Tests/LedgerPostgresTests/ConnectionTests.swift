import PostgresTesting
import Testing

@testable import LedgerPostgres

@Suite struct ConnectionTests {
    @Test("Integers, texts and blobs come back as they went, and so does NULL")
    func roundTrips() throws {
        let connection = try connect()
        for value in [0, 1, -1, Int64.min, .max, nil] {
            let row = try #require(try connection.run("SELECT $1::bigint") { $0.integer(value) }?.first)
            #expect(row.integer(0) == value ?? 0 && row.isNull(0) == (value == nil))
        }
        for value in ["", "a", "'; --", "größer 漢字 🙂", String(repeating: "x", count: 100_000), nil] {
            let row = try #require(try connection.run("SELECT $1::text") { $0.text(value) }?.first)
            #expect(row.optionalText(0) == value)
        }
        for value in [[], [0], Array(0...255), nil] as [[UInt8]?] {
            let row = try connection.run("SELECT $1::bytea") {
                if let value { $0.blob(value) } else { $0.null() }
            }?.first
            #expect(row?.blob(0) == value ?? [] && row?.isNull(0) == (value == nil))
        }
    }

    @Test("Numbers of every width are read; what is no number, no value or no place is 0")
    func widths() throws {
        let result = try connect().run(
            """
            SELECT true, false, 'A'::"char", 7::smallint, (-7)::smallint, (-70000)::integer, NULL::bigint, 'abc', 12.5
            """)
        let row = try #require(result?.first)
        #expect((0..<9).map { row.integer($0) } == [1, 0, 65, 7, -7, -70000, 0, 0, 0])
        #expect(row.isNull(9) && row.isNull(-1) && row.integer(9) == 0 && row.blob(9) == [])
        #expect(result?.isNull(1, 0) == true && result?.optionalText(-1, 0) == nil)
    }

    @Test("Rows become arrays, with NULLs in them, and unnest makes rows of them again")
    func columns() throws {
        let connection = try connect()
        let sql = """
            SELECT *, $4::bigint FROM unnest($1::bigint[], $2::text[], $3::bytea[]) WITH ORDINALITY
            """
        func run(_ numbers: Range<Int64>) throws -> PostgresResult? {
            let types: [PostgresColumn.Element] = [.integer, .text, .blob]
            let statement = PostgresStatement(sql, each: numbers, types) { number, row in
                if number % 3 == 0 { row.null() } else { row.integer(number) }
                row.text(number % 5 == 0 ? nil : number % 7 == 0 ? "" : "row \(number)")
                if number % 11 == 0 { row.null() } else { row.blob([UInt8(number % 256)]) }
            } rest: {
                $0.integer(numbers.upperBound)
            }
            return try connection.run([statement]).first
        }
        let result = try run(0..<1000)
        #expect(result?.rowCount == 1000 && result?.affected == 1000)
        for (number, row) in zip(0..<1000 as Range<Int64>, try #require(result).rows) {
            #expect(row.integer(3) == number + 1 && row.integer(4) == 1000)
            #expect(row.isNull(0) == (number % 3 == 0) && row.integer(0) == (number % 3 == 0 ? 0 : number))
            #expect(row.optionalText(1) == (number % 5 == 0 ? nil : number % 7 == 0 ? "" : "row \(number)"))
            #expect(row.isNull(2) == (number % 11 == 0))
            #expect(row.blob(2) == (number % 11 == 0 ? [] : [UInt8(number % 256)]))
        }
        #expect(try run(0..<0)?.rowCount == 0)
    }

    @Test("Megabytes go both ways in one run, although the server stops reading while its answers wait")
    func large() throws {
        let block = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let statements = (0..<64).map { number in
            PostgresStatement("SELECT $1::bigint, $2::bytea") {
                $0.integer(Int64(number))
                $0.blob(block)
            }
        }
        let results = try connect().run(statements)
        #expect(results.compactMap { $0.first?.integer(0) } == Array(0..<64))
        #expect(results.allSatisfy { $0.first?.blob(1) == block })
    }

    @Test("The first error is thrown with its place; nothing of the run is kept, and the connection goes on")
    func firstError() throws {
        let connection = try connect()
        try connection.run("CREATE TEMPORARY TABLE kept (number bigint)")
        let insert = PostgresStatement("INSERT INTO kept VALUES (1)")
        let division = PostgresStatement("SELECT 1 / $1::bigint") { $0.integer(0) }
        let error = failure { try connection.run([insert, insert, division, PostgresStatement("nonsense")]) }
        #expect(error == .server(state: "22012", message: "a value is refused", statement: 2))
        let syntax = failure { try connection.run([insert, PostgresStatement("nonsense")]) }
        guard case .server("42601", _, 1) = syntax else { throw try #require(syntax) }
        #expect(try connection.number("SELECT count(*) FROM kept") == 0)
        #expect(try connection.run([insert, insert]).map(\.affected) == [1, 1])
        #expect(try connection.number("SELECT count(*) FROM kept") == 2)
        #expect(try connection.run([]).isEmpty)
    }

    @Test("A transaction may span runs; after an error it is rolled back")
    func transactions() throws {
        let connection = try connect()
        try connection.run("CREATE TEMPORARY TABLE kept (number bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        let insert = PostgresStatement("INSERT INTO kept VALUES (1)")
        try connection.run([PostgresStatement("BEGIN"), insert])
        #expect(connection.isInTransaction)
        #expect(failure { try connection.run("SELECT 1 / 0") } != nil)
        #expect(!connection.isInTransaction)
        try connection.run([PostgresStatement("BEGIN"), insert])
        try connection.rollBack()
        try connection.rollBack()
        #expect(try connection.number("SELECT count(*) FROM kept") == 0)
        // Refused by the commit that follows the last statement.
        let error = failure { try connection.run([insert, insert]) }
        #expect(
            error
                == .server(
                    state: "23505",
                    message: "a value is refused, table kept, constraint kept_number_key", statement: 1))
        #expect(error?.isForData == false, "every insertion has its keys for arbiters")
        try connection.run([PostgresStatement("BEGIN"), insert, PostgresStatement("COMMIT")])
        #expect(try connection.number("SELECT count(*) FROM kept") == 1)
    }

    @Test("Statements stay prepared, and at most so many of them")
    func cache() throws {
        let connection = try connect()
        let count = "SELECT count(*) FROM pg_prepared_statements"
        for _ in 0..<3 { #expect(try connection.number(count) == 2) }
        for number in 0..<600 {
            #expect(try connection.number("SELECT \(number)") == Int64(number))
            let kept = number % 50 == 0 ? try connection.number(count) : nil
            #expect(kept ?? 0 <= Int64(PostgresConnection.maxPrepared))
        }
        let many = (0..<400).map { PostgresStatement("SELECT \($0) + 0") }
        for _ in 0..<2 {
            #expect(try connection.run(many).map { $0.integer(0, 0) } == Array(0..<400))
        }
    }

    @Test("A script has any number of statements and is one transaction")
    func scripts() throws {
        let connection = try connect()
        try connection.script("CREATE TEMPORARY TABLE a (x bigint); INSERT INTO a VALUES (1), (2);")
        let error = failure { try connection.script("INSERT INTO a VALUES (3); SELECT 1 / 0; SELECT 2") }
        guard case .server("22012", _, 0) = error else { throw try #require(error) }
        #expect(failure { try connection.script("BEGIN; INSERT INTO a VALUES (3); nonsense") } != nil)
        #expect(failure { try connection.script("BEGIN; INSERT INTO a VALUES (3); SELECT 1 / 0") } != nil)
        #expect(!connection.isInTransaction)
        #expect(try connection.number("SELECT count(*) FROM a") == 2)
        try connection.script("")
    }

    @Test("A text with a NUL and a key that no index can hold are refused as data, without the values")
    func refusedData() throws {
        let connection = try connect()
        try connection.run("CREATE TEMPORARY TABLE a (x text PRIMARY KEY)")
        // Compression must not make it fit.
        var generator = SystemRandomNumberGenerator()
        let long = (0..<5000).map { _ in String(generator.next(), radix: 36) }.joined()
        for text in ["secret\u{0}", long] {
            let error = failure { try connection.run("INSERT INTO a VALUES ($1::text)") { $0.text(text) } }
            #expect(error?.isForData == true)
            #expect(error?.text.contains("secret") == false)
        }
        #expect(try connection.number("SELECT count(*) FROM a") == 0)
    }

    @Test("Commits are synced, limits are set, and one schema is searched")
    func session() throws {
        let url =
            try PostgresServer.shared.createDatabase("session")
            + "&options=-csynchronous_commit%3Doff%20-cidle_session_timeout%3D60000"
        var settings = PostgresSettings.forTests
        settings.lock = .milliseconds(1234)
        let connection = try connect(url, settings)
        #expect(connection.session?.schema == "public" && connection.session?.isReadOnly == false)
        #expect(try connection.text("SHOW synchronous_commit") == "on")
        #expect(try connection.text("SHOW idle_session_timeout") == "0")
        #expect(try connection.text("SHOW lock_timeout") == "1234ms")
        #expect(try connection.text("SHOW statement_timeout") == "170s")
        #expect(try connection.text("SHOW plan_cache_mode") == "force_generic_plan")
        #expect(try connection.text("SHOW search_path") == "public, pg_temp")
        #expect(try connection.text("SHOW application_name") == "grantor")
        let strict = try connect(url + "%20-csynchronous_commit%3Dremote_apply")
        #expect(try strict.text("SHOW synchronous_commit") == "remote_apply")
    }
}
