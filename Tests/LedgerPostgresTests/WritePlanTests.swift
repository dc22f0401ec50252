import Contract
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite("Plans of writes")
struct WritePlanTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    @Test("The rows of a batch are gone through once, however many partitions they come from")
    func fastInsertion() throws {
        try database.subject().own()
        let ledger = try PostgresLedger(try database.configuration())
        // The first one makes its product known to the session, and so the second one goes the fast path.
        let grants = [
            Samples.grant(Samples.submission("s-1", offset: 0), Samples.purchase("1")),
            Samples.grant(Samples.submission("s-2", offset: 1), Samples.purchase("2")),
        ]
        for grant in grants { #expect(try ledger.write([grant])[0].outcome == .granted(created: 1)) }
        let sql = try #require(ledger.connection.prepared.keys.first { $0.contains("WITH owned") })
        let plan = try ledger.connection.plan(of: sql)
        // The first side of a nested loop is the outer one. The inner side is searched for each row of it.
        let rows = try #require(plan.firstIndex { $0.contains("Function Scan on given") })
        let partitions = try #require(plan.firstIndex { $0.contains("CTE Scan on owned") })
        #expect(rows < partitions, "\(plan)")
    }
}
