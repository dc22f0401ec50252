import Contract
import Ledger
import LedgerConformance
import PostgresTesting
import Testing

@testable import LedgerPostgres

@Suite("Plans of look-ups")
struct LookupPlanTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    /// Rows of many users, so that the planner knows that ids are rare.
    static let filling = """
        INSERT INTO partitions (topic, partition) VALUES ('t', 0);
        INSERT INTO products VALUES (1, 'app', 'p', 'consumable', '');
        INSERT INTO grants (product, purchased_at, origin_offset, received_at, granted_at, origin_partition, quantity,
            attempts, environment, format, transaction_id, verified_by, submission_id, user_id, order_id)
        SELECT 1, 0, n, 0, 0, 1, 1, 1, 0, 1, n::text, '0', 's-' || n, 'u-' || n, 'o-' || n
        FROM generate_series(1, 20000) AS n;
        INSERT INTO answers (origin_offset, answered_at, origin_partition, attempts, format, app, submission_id, user_id,
            order_id, transaction_id, reason, detail, digest)
        SELECT n, 0, 1, 1, 1, 'app', 's-' || n, 'u-' || n, 'o-' || n, n::text, 'r', '', ''
        FROM generate_series(1, 20000) AS n;
        INSERT INTO retries (origin_offset, received_at, due_at, bytes, origin_partition, attempts, signed, digest, app,
            submission_id, user_id, order_id, cause, detail, transaction_id, evidence_kind, evidence, endpoint)
        SELECT n, 0, 0, 0, 1, 1, 0, sha256(n::text::bytea), 'app', 's-' || n, 'u-' || n, 'o-' || n, 'c', '', n::text,
            'receipt', '', CASE WHEN n % 2 = 0 THEN 'e' END
        FROM generate_series(1, 20000) AS n;
        """

    @Test("A look for a word finds each table's rows by an index of ids", arguments: [true, false])
    func plans(hasStatistics: Bool) throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        let ledger = try PostgresLedger(configuration)
        try ledger.connection.script(Self.filling)
        if hasStatistics { try ledger.connection.script("ANALYZE") }
        // A grant, a failure and one that is held: the word is their transaction.
        #expect(try ledger.find("17", limit: 50).hits.count == 3)
        let pages = ledger.connection.prepared.keys.filter { $0.contains("LIMIT asked.most") }
        // One for each table and kind of id.
        #expect(pages.count == 12)
        for sql in pages {
            let plan = try ledger.connection.plan(of: sql)
            for table in ["grants", "answers", "retries"] where sql.contains("FROM \(table) ") {
                #expect(!plan.contains { $0.contains("Seq Scan on \(table)") }, "\(plan)")
                // All rows from the newest on, each compared with the word.
                #expect(!plan.contains { $0.hasPrefix("Index Cond: (sequence < ") }, "\(sql) \(plan)")
                #expect(plan.contains { $0.contains("\(table)_") && !$0.contains("_pkey") }, "\(plan)")
                if sql.contains("user_id = asked") || sql.contains("order_id = asked") {
                    // The newest rows of a user with a million are read, and no others.
                    #expect(!plan.contains { $0.contains("Sort") }, "\(sql) \(plan)")
                }
            }
        }
    }

    @Test("A look at submissions and words takes four round trips, and one for a word that nobody has three")
    func roundTrips() throws {
        _ = try database.subject().own()
        let proxy = try PostgresProxy(database.server)
        defer { proxy.stop() }
        let ledger = try PostgresLedger(try database.configuration(behind: proxy))
        try ledger.connection.script(Self.filling)
        proxy.cut(after: 5, .beforeStatements)
        let key = SubmissionKey(bundleID: "app", submissionID: "s-17")
        #expect(try ledger.look(at: [key], for: [Search("u-1", limit: 50)]).results.map(\.hits.count) == [3])
        #expect(proxy.isArmed)
        proxy.cut(after: 4, .beforeStatements)
        #expect(try ledger.find("nobody", limit: 50).hits.isEmpty)
        #expect(proxy.isArmed)
    }

    @Test("Many words and submissions are asked for by as many statements as one")
    func together() throws {
        _ = try database.subject().own()
        let ledger = try PostgresLedger(try database.configuration())
        try ledger.connection.script(Self.filling)
        let keys = (1...16).map { SubmissionKey(bundleID: "app", submissionID: SubmissionID("s-\($0)")) }
        let words = keys.indices.map { Search("u-\(16 - $0)", limit: 1 + $0 % 3) }
        _ = try ledger.look(at: [keys[0]], for: [words[0]])
        let prepared = ledger.connection.prepared
        let look = try ledger.look(at: keys, for: words)
        #expect(ledger.connection.prepared == prepared)
        #expect(look.records.count == keys.count && look.results.count == words.count)
        // Each as if it had been asked for alone.
        for (key, record) in zip(keys, look.records) { #expect(try ledger.submission(key) == record) }
        for (word, result) in zip(words, look.results) {
            #expect(try ledger.find(word.word, limit: word.limit) == result)
            #expect(result.hits.allSatisfy { $0.row.claimant.userID.rawValue == word.word })
            #expect(result.hits.count == min(word.limit, 3) && result.hasMore == (word.limit < 3))
        }
    }

    @Test("Pages with different bounds are asked for together, and those that lose rows go on")
    func pages() throws {
        _ = try database.subject().own()
        let ledger = try PostgresLedger(try database.configuration())
        try ledger.connection.script(Self.filling)
        // Nine grants of one user; only a later version can read every third.
        try ledger.connection.script(
            """
            UPDATE grants SET user_id = 'u-1' WHERE sequence <= 9;
            UPDATE grants SET environment = 7 WHERE sequence IN (3, 6, 9)
            """)
        var queries: [SubmissionQuery] = []
        for (limit, before) in [(1, nil), (3, 9), (4, 7), (9, nil), (2, 1)] as [(Int, Int64?)] {
            queries.append(SubmissionQuery(state: .granted, userID: "u-1", before: before, limit: limit))
        }
        let pages = try ledger.submissions(queries).map { $0.map(\.sequence) }
        #expect(pages == [[8], [8, 7, 5], [5, 4, 2, 1], [8, 7, 5, 4, 2, 1], []])
        #expect(try queries.map { try ledger.submissions($0).map(\.sequence) } == pages)
    }

    @Test("A look at a stretch of places reads these alone", arguments: [SubmissionState.granted, .repeated])
    func stretch(state: SubmissionState) throws {
        _ = try database.subject().own()
        let ledger = try PostgresLedger(try database.configuration())
        try ledger.connection.script(Self.filling)
        try ledger.connection.script("ANALYZE")
        var query = SubmissionQuery(state: state, bundleID: "app", before: 9_000)
        query.from = 8_000
        _ = try ledger.submissions(query)
        let (_, name) = try #require(ledger.connection.prepared.first { $0.key.contains("sequence >= $4") })
        try ledger.connection.script("SET plan_cache_mode = force_custom_plan")
        let plan = try ledger.connection.run(
            PostgresStatement("EXPLAIN EXECUTE \(name) (9000, 100, 'app', '8000')")
        ).rows.map { $0.text(0) }
        #expect(plan.contains { $0.contains("Index Cond: ((sequence < ") && $0.contains("(sequence >= ") }, "\(plan)")
    }

    @Test("Queries that workers make often go by their indexes")
    func oftenAsked() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        let connection = try PostgresLedger(configuration).connection
        let queries = [
            "\(GrantColumns.selection) WHERE \(HashedIndex.condition("grants.submission_id", "'s'"))",
            "\(GrantColumns.selection) WHERE \(HashedIndex.condition("grants.user_id", "'u'"))",
            "\(GrantColumns.selection) WHERE grants.transaction_id = '1' AND grants.environment = 0",
            "\(GrantColumns.selection) WHERE coalesce(grants.grant_key, grants.transaction_id) = '1' "
                + "AND grants.environment = 0",
            "SELECT 1 FROM grants WHERE origin_partition = 1 AND origin_offset BETWEEN 1 AND 9",
            "SELECT max(origin_offset) FROM grants WHERE origin_partition = 1",
            "SELECT 1 FROM answers WHERE submission_id = 's' AND app = 'a'",
            "SELECT 1 FROM retries WHERE endpoint = 'e' AND signed = 1 AND due_at <= 9 ORDER BY due_at, sequence LIMIT 9",
            "SELECT 1 FROM retries WHERE endpoint IS NULL AND due_at <= 9 ORDER BY due_at, sequence LIMIT 9",
            "SELECT 1 FROM retries WHERE takings >= 2 AND leased_until <= 9 ORDER BY leased_until LIMIT 1",
            "SELECT 1 FROM outbox WHERE target = 't' AND due_at <= 9 ORDER BY due_at, sequence LIMIT 9",
        ]
        // A query by submissions asks for each once, however many products there are.
        let joined = """
            EXPLAIN SELECT \(GrantColumns.shown) FROM unnest('{s}'::text[], '{a}'::text[]) AS asked (a, b)
            JOIN grants ON \(HashedIndex.condition("grants.submission_id", "a")) \(GrantColumns.joins)
            WHERE products.app = b
            """
        let plan = try connection.run(PostgresStatement(joined)).rows.map { $0.text(0) }
        #expect(plan.contains { $0.contains("Index Cond: (number = grants.product)") }, "\(plan)")
        let ordered = "EXPLAIN \(GrantColumns.selection) WHERE \(HashedIndex.condition("order_id", "'o'"))"
        let byOrder = try connection.run(PostgresStatement(ordered)).rows.map { $0.text(0) }
        #expect(byOrder.contains { $0.contains("grants_order") }, "\(byOrder)")
        for query in queries {
            let plan = try connection.run(PostgresStatement("EXPLAIN \(query)")).rows.map { $0.text(0) }
            #expect(!plan.contains { $0.contains("Seq Scan") || $0.contains("Sort") }, "\(query): \(plan)")
        }
    }
}
