import Contract
import Ledger
import PostgresTesting
import Scheduling
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite("Clock and samples")
struct MeasureTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    @Test("Rows are due by the database's clock, whatever this host's says")
    func clock() throws {
        var configuration = try database.configuration()
        configuration.clock = nil
        try PostgresLedger.migrate(configuration)
        // Server and test are on one host, so the database's clock is set a day ahead of theirs.
        try database.server.run(
            """
            ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO host_timestamp;
            CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                AS $$ SELECT pg_catalog.host_timestamp() + interval '1 day' $$
            """, database: database.database)
        let ledger = try PostgresLedger(configuration)
        _ = try ledger.takeOver([TakeOver(ownership: Samples.ownership(), owner: "worker", committed: nil)])
        _ = try ledger.write([Samples.wait(Samples.submission("s1"), delay: 3_600_000)])
        let isDue = try database.server.run(
            """
            SELECT due_at - extract(epoch FROM now() + interval '1 day') * 1000 BETWEEN 3500000 AND 3600000
            FROM retries
            """, database: database.database)
        #expect(isDue == "t")
        // Nobody sets the host's clock meanwhile.
        #expect(abs(ledger.clockLead - 86_400_000) < 60_000)
    }

    @Test("How far the ledger's clock is ahead of this host's is known with each call")
    func clockLead() throws {
        var configuration = try database.configuration()
        configuration.clock = { Timestamp(milliseconds: WallClock.milliseconds + 3_600_000) }
        try PostgresLedger.migrate(configuration)
        let ledger = try PostgresLedger(configuration)
        _ = try ledger.identity()
        #expect(abs(ledger.clockLead - 3_600_000) < 60_000)
    }

    @Test("One sample of what waits serves all workers for a while")
    func sampled() throws {
        var configuration = try database.configuration()
        configuration.sampleMilliseconds = 9_000
        try PostgresLedger.migrate(configuration)
        let ledger = try PostgresLedger(configuration)
        _ = try ledger.takeOver([TakeOver(ownership: Samples.ownership(), owner: "worker", committed: nil)])
        #expect(try ledger.measure(as: Samples.worker).retries.isEmpty)
        _ = try ledger.write([Samples.wait(Samples.submission("s1"))])
        database.clock.set(Samples.later(8_999))
        #expect(try PostgresLedger(configuration).measure(as: Samples.worker).retries.isEmpty)
        database.clock.set(Samples.later(9_000))
        #expect(try PostgresLedger(configuration).measure(as: Samples.worker).retries.map(\.rows) == [1])
    }

    @Test("Of large tables a part is counted, and what is rare in them is there all the same")
    func sampledInPart() throws {
        var configuration = try database.configuration()
        configuration.samplePages = 64
        configuration.sampleRows = 1_000
        try PostgresLedger.migrate(configuration)
        let ledger = try PostgresLedger(configuration)
        _ = try ledger.takeOver([TakeOver(ownership: Samples.ownership(), owner: "worker", committed: nil)])
        _ = try ledger.write([
            Samples.wait(Samples.submission("s1")), Samples.fail(Samples.submission("s2", offset: 9)),
        ])
        let copies = try PostgresConnection(configuration.options, configuration.settings)
        let columns =
            try copies.run(
                PostgresStatement(
                    """
                    SELECT string_agg(column_name, ', ') FROM information_schema.columns WHERE table_name = 'retries'
                        AND column_name NOT IN ('sequence', 'digest', 'app', 'endpoint')
                    """)
            ).first?.text(0) ?? ""
        try copies.script(
            """
            INSERT INTO retries (\(columns), digest, app, endpoint)
                SELECT \(columns), sha256(n::text::bytea), CASE WHEN n % 500 = 1 THEN 'held.' || n ELSE app END,
                    CASE WHEN n % 500 = 1 THEN NULL WHEN n = 2 THEN 'server_api/sandbox/app' ELSE endpoint END
                FROM retries, generate_series(1, 10000) AS n;
            INSERT INTO outbox (due_at, owed_since, key, step, target)
                SELECT 5, 5, 'k' || n, CASE WHEN n < 4 THEN 'publish' ELSE 'call' END,
                    CASE WHEN n < 4 THEN 'topic:granted' WHEN n = 4 THEN 'service:com.example.rare'
                        ELSE 'service:com.example.game' END
                FROM generate_series(1, 10000) AS n
            """)
        let measure = try ledger.measure(as: Samples.worker)
        let rows = Dictionary(uniqueKeysWithValues: measure.waiting.map { ($0.endpoint, $0.rows) })
        #expect((5_000...15_000).contains(rows[Samples.endpoint] ?? 0), "\(rows)")
        #expect(Set(rows.keys) == [nil, Samples.endpoint, Endpoint(.serverAPI, .sandbox, key: "app")])
        let held = Set(stride(from: 1, to: 10_000, by: 500).map { BundleID("held.\($0)") })
        #expect(Set(measure.held.map(\.group.bundleID)) == held, "they are few, and all are counted")
        #expect(measure.held.allSatisfy { $0.rows == 1 }, "\(measure.held)")
        #expect(Set(measure.calls.map(\.bundleID)) == ["com.example.rare", "com.example.game"])
        #expect((5_000...15_000).contains(measure.outboxRows), "\(measure.outboxRows)")
        #expect(measure.outboxAge == measure.takenAt.milliseconds - 5, "events are few, and all are counted")
        // Of many a part is counted, beside those that are due first.
        try copies.script("UPDATE retries SET endpoint = NULL, due_at = due_at + 9 WHERE endpoint IS NOT NULL")
        let many = try ledger.measure(as: Samples.worker).held
        #expect(held.isSubset(of: many.map(\.group.bundleID)) && many.count == held.count + 1)
        #expect((5_000...15_000).contains(many.first { $0.group.bundleID == Samples.app }?.rows ?? 0), "\(many)")
        try copies.script("DELETE FROM retries WHERE app NOT LIKE 'held.%'; DELETE FROM outbox WHERE key <> 'k5'")
        let drained = try ledger.measure(as: Samples.worker)
        #expect(drained.waiting.map(\.rows) == [held.count], "the pages are there, and nearly empty")
        #expect(drained.outboxRows == 1)
    }
}
