import Contract
import Ledger
import LedgerConformance
import PostgresTesting
import Testing

@testable import LedgerPostgres

@Suite("Work on many rows, on PostgreSQL")
struct UpkeepTests {
    private static let note = OperatorNote(actor: "kim", reason: "asked", at: Samples.noon)

    @Test("Operators import and prune, and the eraser alone erases, each with the rights of the page")
    func rights() throws {
        let ledger = try TemporaryLedger()
        try ledger.withRoles {
            let people = try ledger.open(as: "operator")
            let eraser = try ledger.open(as: "eraser")
            #expect(try people.add(imported: [Samples.importedRow], isTrial: false) == [.new])
            try people.note(.importGrants, Self.note)
            #expect(try people.prune(0...(.max), before: Samples.noon, isTrial: false) == 0)
            #expect(throws: LedgerError.self) { try people.erase(Samples.playersErasure, Self.note) }
            let rows = ErasureResult.Rows(grants: 1, answers: 0, actions: 0, isComplete: true)
            #expect(try eraser.erase(Samples.playersErasure, Self.note) == .done(rows))
            #expect(try people.grants(GrantQuery()).map(\.grant.isErased) == [true])
            #expect(throws: PostgresFailure.self) {
                try eraser.connection.run(PostgresStatement("UPDATE grants SET transaction_id = '2'"))
            }
            // No worker's right is one to change a grant.
            let worker = try ledger.open(as: "worker")
            #expect(try WorkerRights.spare(for: worker.connection).isEmpty)
            // A worker that deletes old answers notes it, which needs one right more for a role that can read.
            try worker.checkRights(prunes: false)
            #expect(throws: LedgerError.self) { try worker.checkRights(prunes: true) }
            try ledger.server.run(
                "GRANT INSERT ON operator_actions TO \(ledger.role("worker"))", database: ledger.database)
            try worker.checkRights(prunes: true)
            try worker.note(.prune, Self.note)
            #expect(try worker.prune(0...(.max), before: Samples.noon, isTrial: false) == 0)
        }
    }

    @Test("Rows of a user are found by an index, and rows of places by their places", arguments: [true, false])
    func plans(hasStatistics: Bool) throws {
        let database = try TemporaryLedger()
        try PostgresLedger.migrate(database.configuration())
        let ledger = try PostgresLedger(database.configuration())
        try ledger.connection.script(LookupPlanTests.filling)
        if hasStatistics { try ledger.connection.script("ANALYZE") }
        for state in [SubmissionState.granted, .failed] {
            let table = state == .granted ? "grants" : "answers"
            for (query, index) in [
                (DecidedQuery(state: state, userID: "u-17"), "\(table)_user"),
                (DecidedQuery(state: state, submissionID: "s-17"), "\(table)_submission"),
                (DecidedQuery(state: state, bundleID: "app", from: Samples.noon, places: 1...100), "sequence >= '1'"),
            ] {
                _ = try ledger.events(query)
                let plan = try ledger.plan(of: query)
                #expect(plan.contains(index), "\(plan)")
                #expect(!plan.contains("Seq Scan on \(table)"), "\(plan)")
            }
        }
    }
}

extension PostgresLedger {
    /// The plan of the latest statement for a query's rows, with the query's values.
    fileprivate func plan(of query: DecidedQuery) throws -> String {
        let (sql, parameters) = DecidedRows.statement(query, of: query.table ?? .grants)
        let explained = PostgresStatement("EXPLAIN \(sql)", parameters)
        return try connection.run(explained).rows.map { $0.text(0) }.joined(separator: "\n")
    }
}
