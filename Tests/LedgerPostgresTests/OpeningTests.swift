import Contract
import Foundation
import Ledger
import PostgresTesting
import Scheduling
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite struct OpeningTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    private func error(_ body: () throws -> Void) -> LedgerError? {
        do {
            try body()
            return nil
        } catch {
            return error as? LedgerError
        }
    }

    private func open() -> LedgerError? { error { _ = try PostgresLedger(database.configuration()) } }

    @Test("A database without a ledger, and a ledger of another version, are told apart, and no worker begins there")
    func versions() throws {
        func detail() -> String {
            guard case .unusable(let detail) = open() else { return "" }
            return detail
        }
        #expect(detail().contains("it has no ledger"))
        #expect(try PostgresLedger.migrate(database.configuration()) == (0, Migrations.postgres.newest))
        #expect(
            try PostgresLedger.migrate(database.configuration()) == (
                Migrations.postgres.newest, Migrations.postgres.newest
            ))
        #expect(open() == nil)
        let newest = Migrations.postgres.newest
        try database.server.run("UPDATE ledger SET version = \(newest + 2)", database: database.database)
        #expect(detail().contains("schema \(newest + 2) is newer than \(newest + 1)"))
        try database.server.run("UPDATE ledger SET version = 0", database: database.database)
        #expect(detail().contains("it has no ledger"))
    }

    @Test("Processes that make one ledger at once make one")
    func migrations() async throws {
        let configuration = try database.configuration()
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try PostgresLedger.migrate(configuration)
                    return try PostgresLedger(configuration).identity()
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    @Test("A tables' owner is needed to make a ledger, and a person is told so")
    func rights() throws {
        let role = "stranger_\(database.database)"
        try database.server.run(
            "CREATE ROLE \(role) LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC", database: database.database)
        defer { _ = try? database.server.run("DROP ROLE \(role)") }
        var configuration = try PostgresLedgerConfiguration(
            url: database.server.url(database: database.database, user: role))
        configuration.settings.demandsFsync = false
        guard case .unusable(let detail) = error({ try PostgresLedger.migrate(configuration) }) else {
            Issue.record("it made a ledger")
            return
        }
        #expect(detail.contains("permission denied"))
    }

    @Test("A ledger that takes another's place under a worker ends the worker's sessions, all of them")
    func replaced() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        let sessions = [try PostgresLedger(configuration), try PostgresLedger(configuration)]
        try database.server.run("UPDATE ledger SET id = 'another'", database: database.database)
        let wanted = LedgerError.disconnected(
            detail: "\(configuration.options): the connection was lost: another database, or a promoted standby, has "
                + "taken this one's place")
        #expect(error { _ = try sessions[0].checkpoint([]) } == nil, "nothing was asked")
        let checkpoint = OffsetCheckpoint(ownership: Samples.ownership(), next: 1)
        #expect(error { _ = try sessions[0].checkpoint([checkpoint]) } == wanted)
        // The other session has not looked yet, and a new one has found the standby that was promoted.
        let place = sessions[1].place
        try database.server.run("UPDATE ledger SET id = '\(place.id)'", database: database.database)
        #expect(error { _ = try sessions[1].checkpoint([checkpoint]) } == nil)
        try configuration.mark.open(LedgerPlace(id: place.id, timeline: "FFFFFFFF"))
        #expect(error { _ = try sessions[1].checkpoint([checkpoint]) } == wanted)
    }

    @Test("A write of grants alone finds as well that another ledger has taken its place")
    func replacedUnderFastWrite() throws {
        let subject = try database.subject()
        try subject.own()
        // Only a grant of a product that the session has seen committed is written alone.
        #expect(
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))[0].outcome
                == .granted(created: 1))
        try database.server.run("UPDATE ledger SET id = 'another'", database: database.database)
        let grant = Samples.grant(Samples.submission("s2"), Samples.purchase("2"))
        guard case .disconnected = error({ _ = try subject.ledger.write([grant]) }) else {
            Issue.record("it writes on")
            return
        }
    }

    @Test("A product counts as written once a grant of it is: nothing else makes its app the ledger's")
    func knownProducts() throws {
        try database.subject().own()
        let ledger = try PostgresLedger(try database.configuration())
        let stale = Samples.grant(Samples.submission("s1"), Samples.purchase("1"), generation: 0)
        #expect(try ledger.write([stale]) == [.notOwned])
        #expect(ledger.knownProducts.isEmpty)
        _ = try ledger.write([Samples.grant(Samples.submission("s1"), Samples.purchase("1"))])
        #expect(ledger.knownProducts.count == 1)
    }

    @Test("A worker that had its ledger waits for it, whatever a person has to mend")
    func reopened() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        _ = try PostgresLedger(configuration)
        try database.server.run("ALTER TABLE ledger RENAME TO away", database: database.database)
        try database.server.run("ALTER DATABASE \(database.database) RENAME TO \(database.database)_away")
        defer {
            _ = try? database.server.run("ALTER DATABASE \(database.database)_away RENAME TO \(database.database)")
        }
        guard case .disconnected = error({ _ = try PostgresLedger(configuration) }) else {
            Issue.record("it does not wait")
            return
        }
        guard case .unusable = open() else {
            Issue.record("a new worker waits for what only a person can mend")
            return
        }
    }

    @Test("A number that is given again drops no row in silence", arguments: [false, true])
    func numbers(isGrant: Bool) throws {
        let subject = try database.subject()
        try subject.own()
        // One number or two that came again are passed by further tries.
        let decisions = (1...30).map(String.init).map { (id: String) in
            let submission = Samples.submission(SubmissionID(id))
            return isGrant ? Samples.grant(submission, Samples.purchase(TransactionID(id))) : Samples.wait(submission)
        }
        for decision in decisions.dropLast() { try subject.write(decision) }
        let table = isGrant ? "grants" : "retries"
        try database.server.run(
            "SELECT setval(pg_get_serial_sequence('\(table)', 'sequence'), 1, false)", database: database.database)
        guard case .unusable = error({ try subject.write(decisions[29]) }) else {
            Issue.record("nobody is told")
            return
        }
    }

    @Test("A sequence that is behind its table ends an import: no line counts that is not in the ledger")
    func importedNumbers() throws {
        let subject = try database.subject()
        func grants(_ lines: ClosedRange<Int>) -> [Grant] {
            lines.map { Samples.imported(TransactionID("\($0)"), line: $0) }
        }
        _ = try subject.ledger.add(imported: grants(1...30), isTrial: false)
        try database.server.run(
            "SELECT setval(pg_get_serial_sequence('grants', 'sequence'), 1, false)", database: database.database)
        guard case .unusable = error({ _ = try subject.ledger.add(imported: grants(31...33), isTrial: false) }) else {
            Issue.record("nobody is told")
            return
        }
        #expect(try subject.grantRows().count == 30)
    }

    @Test("A primary that does not know of its end is no place for a worker that has seen the next one")
    func outlived() throws {
        let mark = LedgerMark()
        let first = LedgerPlace(id: "a", timeline: "00000001")
        let second = LedgerPlace(id: "a", timeline: "0000000A")
        #expect(failure { try mark.open(first) } == nil && mark.isPresent(first))
        #expect(failure { try mark.open(second) } == nil && !mark.isPresent(first))
        guard case .unreachable = failure({ try mark.open(first) }) else { throw Violation(description: "it is taken") }
        #expect(mark.isPresent(second))
    }

    @Test(
        "A host that will not do for the process leaves the next one to be asked",
        arguments: [
            PostgresFailure.unreachable("outlived"), .unfit("another ledger"), .options("a password is wanted"),
        ])
    func nextHost(first: PostgresFailure) throws {
        let server = database.server
        let hosts = "host=\(server.folder),\(server.folder)&port=\(server.port),\(server.port)"
        let options = try PostgresOptions(url: "postgres://postgres@/\(database.database)?\(hosts)&connect_timeout=180")
        var asked = 0
        let connection = try PostgresConnection(options, .forTests) { (_) throws(PostgresFailure) in
            asked += 1
            guard asked > 1 else { throw first }
        }
        #expect(asked == 2 && !connection.isClosed)
        let none = failure {
            _ = try PostgresConnection(options, .forTests) { (_) throws(PostgresFailure) in
                throw first
            }
        }
        // A fault for a person on every host is reported at once.
        let host = "\(server.folder):\(server.port)"
        #expect(none?.text == "no host will do: \(host): \(first.text); \(host): \(first.text)")
        #expect(none?.error(at: "", isOpening: true).word == (first.isPersons ? "unusable" : "unavailable"))
    }

    @Test("A take-over uses up a number only for a partition that has none")
    func partitionNumbers() throws {
        let subject = try database.subject()
        for generation in 1...5 { try subject.own(Int64(generation)) }
        let next = PartitionOwnership(
            partition: TopicPartition(topic: "receipts.submitted", partition: 9), generation: Generation(rawValue: 1))
        _ = try subject.ledger.takeOver([TakeOver(ownership: next, owner: "worker", committed: nil)])
        #expect(try database.server.run("SELECT max(number) FROM partitions", database: database.database) == "2")
    }

    @Test("A write for a partition that nobody has taken over makes none known")
    func unknownPartition() throws {
        let subject = try database.subject()
        let failed = Samples.fail(Samples.submission("s1"))
        #expect(try subject.ledger.write([failed]) == [.notOwned])
        #expect(try database.server.run("SELECT count(*) FROM partitions", database: database.database) == "0")
    }

    @Test("A process that had one ledger ends where another has taken its place")
    func anotherLedger() throws {
        let configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        let ledger = try PostgresLedger(configuration)
        let id = try ledger.identity()
        try database.server.run("UPDATE ledger SET id = 'another'", database: database.database)
        guard case .disconnected = error({ _ = try ledger.measure(as: Samples.worker) }),
            case .unusable(let detail) = error({ _ = try PostgresLedger(configuration) })
        else {
            Issue.record("it works on")
            return
        }
        #expect(detail.contains("it is the ledger another now, and was the ledger \(id)"))
        #expect(open() == nil, "a new process looks at the group's offsets")
    }

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
                        AND column_name NOT IN ('sequence', 'digest', 'endpoint')
                    """)
            ).first?.text(0) ?? ""
        try copies.script(
            """
            INSERT INTO retries (\(columns), digest, endpoint)
                SELECT \(columns), sha256(n::text::bytea),
                    CASE n WHEN 1 THEN NULL WHEN 2 THEN 'server_api/sandbox/app' ELSE endpoint END
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
        #expect(Set(measure.calls.map(\.bundleID)) == ["com.example.rare", "com.example.game"])
        #expect((5_000...15_000).contains(measure.outboxRows), "\(measure.outboxRows)")
        #expect(measure.outboxAge == measure.takenAt.milliseconds - 5, "events are few, and all are counted")
        try copies.script("DELETE FROM retries WHERE endpoint IS NOT NULL; DELETE FROM outbox WHERE key <> 'k5'")
        let drained = try ledger.measure(as: Samples.worker)
        #expect(drained.waiting.map(\.rows) == [1] && drained.outboxRows == 1, "the pages are there, and nearly empty")
    }

    @Test("Queries that workers make often go by their indexes")
    func plans() throws {
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

    @Test("The roles of the documentation may do what they have to, and no worker may take a grant back")
    func roles() throws {
        try PostgresLedger.migrate(database.configuration())
        try database.makeRoles()
        defer { database.removeRoles() }
        func ledger(_ role: String) throws -> PostgresLedger {
            var configuration = try PostgresLedgerConfiguration(
                url: database.server.url(database: database.database, user: database.role(role)))
            configuration.settings.demandsFsync = false
            let clock = database.clock
            configuration.clock = { clock.now }
            configuration.sampleMilliseconds = 0
            return try PostgresLedger(configuration)
        }
        let worker = ConformanceSubject(
            ledger: try ledger("worker"), other: try ledger("worker"), setClock: { database.clock.set($0) })
        try worker.own()
        var play = RandomPlay(seed: 7, isWorker: true)
        for _ in 0..<200 { _ = try play.step(worker) }
        let note = OperatorNote(actor: "kim", reason: "Tried.", at: Samples.noon)
        let person = try ledger("operator")
        let key = Samples.submission("s1").claimant.submissionKey
        _ = try person.abandon(key, note)
        _ = try person.retryNow(key, note)
        #expect(try person.accept(ledger: person.identity(), for: Samples.group, [Samples.partition: 1], note))
        let reader = try ledger("reader")
        #expect(try reader.grants(GrantQuery()).count > 0)
        for state in SubmissionState.allCases { _ = try reader.submissions(SubmissionQuery(state: state)) }
        #expect(throws: PostgresFailure.self) {
            try (worker.ledger as? PostgresLedger)?.connection.run([PostgresStatement("DELETE FROM grants")])
        }
        guard
            case .unavailable(let detail) = error({
                _ = try reader.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(), next: 1)])
            })
        else {
            Issue.record("a reader writes")
            return
        }
        #expect(detail.contains("this user lacks a right"))
    }
}
