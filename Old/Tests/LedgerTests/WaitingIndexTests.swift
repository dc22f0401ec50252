import GRDB
import LedgerConformance
import Purchases
import Testing

@testable import Ledger

/// What the side loop asks each second must not look at what is not due, however much of that there is.
@Suite struct WaitingIndexTests {
    private static let rows = 4800
    /// People's questions about what is settled and what waits alike, by the column that each has two indexes on.
    private static let filters = [
        (SubmissionFilter(userID: "nobody"), "user"), (SubmissionFilter(orderID: "nobody"), "order"),
    ]
    private static let later = Samples.noon.advanced(by: .seconds(7200))

    /// Submissions that wait, come due one after the other, and are the lesser part of what there is.
    private func fill(_ ledger: some LedgerStore) async throws {
        for start in stride(from: 0, to: Self.rows, by: 160) {
            let batch = (start..<start + 160).flatMap { number in
                [
                    Samples.parked(SubmissionID("p\(number)"), after: .seconds(number)),
                    Samples.failure(SubmissionID("f\(number)")),
                    Samples.failure(SubmissionID("g\(number)")),
                ]
            }
            _ = try await ledger.settle(batch, quarantines: [], now: Samples.noon)
        }
    }

    @Test func sqliteFindsWhatIsDueByAnIndex() async throws {
        let place = try TemporaryLedger()
        let ledger = try await place.open()
        try await fill(ledger)
        try await ledger.close()
        let database = try DatabaseQueue(path: place.path)
        func plan(_ sql: String, parameters: Int? = nil) throws -> [String] {
            let count = parameters ?? sql.count { $0 == "?" }
            return try database.read { database in
                try Row.fetchAll(
                    database, sql: "EXPLAIN QUERY PLAN " + sql,
                    arguments: StatementArguments(Array(repeating: Int64(1), count: count))
                ).map { $0["detail"] as String }
            }
        }
        #expect(try plan(WaitingTable.hasDue) == ["SEARCH waiting USING COVERING INDEX waiting_due (due_at<?)"])
        #expect(try plan(WaitingTable.due) == ["SEARCH waiting USING COVERING INDEX waiting_due (due_at<?)"])
        let counting = try plan(WaitingTable.counting)
        #expect(
            counting.contains { $0.contains("submissions USING COVERING INDEX submissions_waiting") }, "\(counting)")
        #expect(counting.contains { $0.contains("waiting USING COVERING INDEX waiting_due") }, "\(counting)")
        #expect(!counting.contains { $0.hasPrefix("SCAN waiting") && !$0.contains("INDEX") }, "\(counting)")
        for (filter, column) in Self.filters {
            let plan = try plan("SELECT * FROM submissions " + SubmissionTable.rest(of: filter), parameters: 10)
            for index in ["submissions_\(column)", "submissions_waiting_\(column)"] {
                #expect(plan.contains { $0.contains("USING INDEX \(index) ") }, "\(plan)")
            }
            #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
        }
    }

    @Test func postgresFindsWhatIsDueByAnIndex() async throws {
        let place = try await TemporaryPostgres()
        let ledger = try await place.open()
        try await fill(ledger)
        await ledger.close()
        try await place.query("VACUUM ANALYZE waiting")
        try await place.query("VACUUM ANALYZE submissions")
        let due = Samples.noon.advanced(by: .seconds(20)).milliseconds
        let taking = try await place.query(
            """
            PREPARE take (bigint, text, bigint, bigint) AS \(WaitingRows.taking.sql);
            EXPLAIN EXECUTE take(\(due), 'w', 60000, 64)
            """)
        #expect(taking.contains("Index Scan using waiting_due on waiting"), "\(taking)")
        #expect(!taking.contains("Seq Scan on waiting"), "\(taking)")
        #expect(!taking.contains("Seq Scan on submissions"), "\(taking)")
        let counting = try await place.query("EXPLAIN \(WaitingRows.counting.statement.sql)")
        #expect(counting.contains("submissions_waiting"), "\(counting)")
        #expect(counting.contains("Index Only Scan using waiting_due on waiting"), "\(counting)")
        for (filter, column) in Self.filters {
            let page = SubmissionPage.read(filter, before: nil, limit: 50).statement.sql
            let plan = try await place.query(
                "PREPARE page_\(column) AS \(page); EXPLAIN EXECUTE page_\(column)(\(Int64.max), 50, 'nobody')")
            for index in ["submissions_\(column)", "submissions_waiting_\(column)"] {
                #expect(plan.contains(" \(index) "), "\(plan)")
            }
            #expect(!plan.contains("Seq Scan"), "\(plan)")
        }
    }
}
