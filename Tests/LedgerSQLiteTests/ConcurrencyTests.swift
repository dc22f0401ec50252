import Contract
import Ledger
import LedgerConformance
import LedgerSQLite
import Testing

@Suite struct ConcurrencyTests {
    private let file = TemporaryLedger()

    @Test("Connections that claim the same purchases at once grant each once")
    func races() async throws {
        try SQLiteLedger.migrate(file.configuration)
        let configuration = file.configuration
        try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<4 {
                group.addTask { try Race.claim(try SQLiteLedger(configuration), worker: worker) }
            }
            let created = try await group.reduce(0, +)
            #expect(created == Race.purchases)
        }
        let rows = try SQLiteLedger(configuration).grants(GrantQuery(limit: 1_000))
        #expect(rows.count == Race.purchases)
        #expect(Set(rows.map(\.grant.transactionID)).count == Race.purchases)
    }
}
