import Foundation
import LedgerConformance
import Purchases
import Testing

@testable import Ledger

/// What a worker asks of its tables touches the rows it is about, and never a table as a whole, also where the server has no
/// statistics: a ledger that was made a minute ago may hold half a million rows that nobody has counted yet.
@Suite struct PostgresPlanTests {
    private static let worker: WorkerID = "worker"
    private static let lease = Duration.seconds(60)
    private static let later = Samples.noon.advanced(by: .seconds(7200))
    private static let note = OperatorNote(actor: "anna", reason: "a test")
    /// Tables that grow. The outbox's head and its relay have one row each.
    private static let growing = [
        "submissions", "grants", "outbox", "waiting", "deliveries", "quarantines", "withheld", "publications",
    ]

    /// Makes every kind of call that a worker makes, so that the connection keeps every statement there is.
    private func makeAllCalls(_ ledger: PostgresLedger) async throws {
        let (one, two, three) = (Samples.purchase("1"), Samples.purchase("2"), Samples.purchase("3"))
        func settle(_ settlements: Settlement..., quarantines: [Quarantine] = []) async throws {
            _ = try await ledger.settle(settlements, quarantines: quarantines, now: Samples.noon)
        }
        try await settle(
            Samples.grant("a", one), Samples.failure("b"), Samples.parked("c"), Samples.parked("d"),
            Samples.delivered("e", two), quarantines: [Samples.quarantine(offset: 1)])
        _ = try await ledger.recorded([Samples.key("a")])
        // The first repeats a grant, the second ends a wait, the third uses a known id for another purchase.
        try await settle(Samples.grant("f", order: "o", one), quarantines: [Samples.quarantine(offset: 1)])
        try await settle(Samples.failure("c"))
        try await settle(Samples.grant("a", content: "second", Samples.purchase("4")))
        // Joins a delivery that is open.
        try await settle(Samples.delivered("e", two))
        _ = try await ledger.takeDue(Self.worker, limit: 10, for: Self.lease, now: Self.later)
        try await ledger.keepDue(Self.worker, [Samples.key("d")], for: Self.lease, now: Self.later)
        try await ledger.giveBackDue(Self.worker, now: Self.later)
        _ = try await ledger.backlog()
        try await makeDeliveries(ledger, Samples.event(two))
        try await settle(Samples.delivered("g", three))
        _ = try await ledger.deliveryCounts()
        _ = try await ledger.takeRelay(Self.worker, for: Self.lease, now: Self.later)
        _ = try await ledger.outbox(after: 0, limit: 10)
        _ = try await ledger.published(
            RelayNote(through: 2, withhold: [1]), by: Self.worker, for: Self.lease, now: Self.later)
        try await ledger.leaveRelay(Self.worker)
        _ = try await ledger.events([Samples.event(one)])
        _ = try await ledger.events(after: 0, limit: 10)
        _ = try await ledger.grants(GrantFilter(grantID: GrantKey(of: one).grantID), before: nil, limit: 1)
    }

    private func makeDeliveries(_ ledger: PostgresLedger, _ event: EventID) async throws {
        let share = DeliveryShare(bundleID: Samples.bundle, limit: 10)
        _ = try await ledger.takeDeliveries(Self.worker, [share], for: Self.lease, now: Self.later)
        _ = try await ledger.keepDeliveries([event], Self.worker, for: Self.lease, now: Self.later)
        for end in [DeliveryReport.End.again(after: .seconds(1)), .done] {
            let report = DeliveryReport(eventID: event, attempts: 1, history: AttemptHistory(), end: end)
            _ = try await ledger.report([report], Self.worker, now: Self.later)
        }
    }

    /// The plans of all statements that a connection keeps, by name, for values that the planner does not know.
    private func plans(_ pool: PostgresPool) async throws -> [String: String] {
        let beginnings: Set = ["begin", "commit", "rollback"]
        return try await pool.run { connection throws(PostgresFailure) in
            func texts(_ sql: String) throws(PostgresFailure) -> [String] {
                try connection.run(PostgresCommand(PostgresStatement(once: sql))).rows { row throws(PostgresFailure) in
                    try row.text(0)
                }
            }
            _ = try connection.run(PostgresCommand(PostgresStatement(once: "SET plan_cache_mode = force_generic_plan")))
            let kept = try texts(
                """
                SELECT name || ' ' || array_to_string(array_fill('NULL'::text, ARRAY[cardinality(parameter_types)]), ', ')
                FROM pg_prepared_statements
                """)
            var plans: [String: String] = [:]
            for statement in kept {
                let parts = statement.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
                let (name, values) = (String(parts[0]), parts[1])
                guard !beginnings.contains(name) else { continue }
                let execution = values.isEmpty ? name : "\(name)(\(values))"
                plans[name] = try texts("EXPLAIN EXECUTE \(execution)").joined(separator: "\n")
            }
            return plans
        }
    }

    /// The names of all statements that the sources keep.
    private var names: Set<String> {
        get throws {
            let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
            let folder = root.appending(path: "Sources/Ledger/Postgres")
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            var names: Set<String> = []
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                for match in text.matches(of: /PostgresStatement\(\s*"([a-z_]+)"/) { names.insert(String(match.1)) }
            }
            return names.subtracting(["begin", "commit", "rollback"])
        }
    }

    @Test func noStatementOfAWorkersReadsATableAsAWhole() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open { $0.maxConnections = 1 }
        try await makeAllCalls(ledger)
        var plans = try await plans(ledger.pool)
        let snapshot = try #require(try await ledger.snapshot() as? PostgresSnapshot)
        _ = try await snapshot.events(after: 0, limit: 10)
        plans.merge(try await self.plans(snapshot.pool)) { first, _ in first }
        await snapshot.close()
        await ledger.close()
        let unseen = try names.symmetricDifference(plans.keys)
        #expect(unseen.isEmpty, "\(unseen)")
        for (name, plan) in plans {
            for table in Self.growing {
                #expect(!plan.contains("Seq Scan on \(table) "), "\(name):\n\(plan)")
            }
            #expect(!plan.contains("Hash"), "\(name):\n\(plan)")
            #expect(!plan.contains("Merge"), "\(name):\n\(plan)")
        }
    }

    @Test func whatCountsWholeTablesReadsThemInTheirOrder() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open { $0.maxConnections = 1 }
        _ = try await ledger.settle(
            [Samples.grant("a", Samples.purchase("1")), Samples.failure("b")], quarantines: [], now: Samples.noon)
        let counts = try await ledger.counts()
        #expect(counts.grants == 1)
        #expect(counts.submissions == [.granted: 1, .failed: 1])
        // What was lifted for it is in force again.
        let setting = try await ledger.pool.run { connection throws(PostgresFailure) in
            try connection.run(PostgresCommand(PostgresStatement(once: "SHOW enable_seqscan")))
                .rows { row throws(PostgresFailure) in try row.text(0) }
        }
        #expect(setting == ["off"])
        await ledger.close()
    }
}
