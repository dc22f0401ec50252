import Contract
import Glibc
import Ledger
import LedgerConformance
import LedgerSQLite
import Synchronization
import Testing

@Suite struct ConcurrencyTests {
    @Test("Connections that claim the same purchases at once grant each once")
    func races() async throws {
        let file = TemporaryLedger()
        defer { file.remove() }
        try SQLiteLedger.migrate(file.configuration)
        let configuration = file.configuration
        try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<4 {
                group.addTask { try Self.claim(configuration, worker: worker) }
            }
            let created = try await group.reduce(0, +)
            #expect(created == 200)
        }
        let rows = try SQLiteLedger(configuration).grants(GrantQuery(limit: 1_000))
        #expect(rows.count == 200)
        #expect(Set(rows.map(\.grant.transactionID)).count == 200)
    }

    /// - Returns: How many grants this worker created.
    private static func claim(_ configuration: SQLiteLedgerConfiguration, worker: Int) throws -> Int {
        let ledger = try SQLiteLedger(configuration)
        let partition = TopicPartition(topic: "receipts.submitted", partition: Int32(worker))
        let ownership = PartitionOwnership(partition: partition, generation: Generation(rawValue: Int64(worker)))
        _ = try ledger.takeOver([TakeOver(ownership: ownership, owner: "worker \(worker)", committed: nil)])
        var random = SeededGenerator(seed: UInt64(worker))
        var created = 0
        for number in (0..<200).shuffled(using: &random) {
            let product = Product(id: "gems", type: .consumable, items: [])
            let purchase = Purchase(
                transactionID: TransactionID("\(number + 1)"), originalTransactionID: TransactionID("\(number + 1)"),
                productID: "gems", environment: .production, purchasedAt: Samples.noon)
            guard let granted = GrantablePurchase(purchase, of: product) else { continue }
            let submission = Submission(
                claimant: Claimant(
                    submissionID: SubmissionID("\(worker):\(number)"), userID: UserID("player-\(worker)"),
                    bundleID: "com.example.game"),
                evidence: .transactionID("1"),
                origin: Origin(topic: partition.topic, partition: partition.partition, offset: Int64(number)),
                receivedAt: Samples.noon)
            let results = try ledger.write([
                Decision(
                    subject: .submission(submission), source: .record(ownership),
                    content: .grant([granted], by: .serverAPI),
                    attempts: 1, decidedAt: Samples.noon)
            ])
            switch results[0] {
            case .written(.granted(created: 1), _, _): created += 1
            case .written(.failed(reason: "owned_by_another_user"), _, _): break
            case let other: Issue.record("a result is \(other)")
            }
        }
        return created
    }

    @Test("Processes that make one ledger at once make one")
    func migrations() async throws {
        let file = TemporaryLedger()
        defer { file.remove() }
        let configuration = file.configuration
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try SQLiteLedger.migrate(configuration)
                    return try SQLiteLedger(configuration).identity()
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }
}
