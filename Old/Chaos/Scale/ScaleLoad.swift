import AppStoreSimulator
import Foundation
import Kafka
import Ledger
import Logging
import Purchases

/// Receipts of one consumable each, on the input topic as fast as workers settle them.
struct ScaleLoad: Sendable {
    /// Submissions on the topic that are not settled yet, at most: more than all workers have in flight.
    static let ahead = 8000
    private static let batch = 250

    private let records: [KafkaProducerRecord]

    /// Makes receipts on all processors, before anything is measured.
    static func make(_ count: Int, by writer: ClaimWriter) async throws -> ScaleLoad {
        let parts = ProcessInfo.processInfo.activeProcessorCount
        let share = (count + parts - 1) / parts
        let records = try await withThrowingTaskGroup(of: [KafkaProducerRecord].self) { group in
            for part in 0..<parts {
                group.addTask {
                    try (part * share..<min(count, (part + 1) * share)).map { try record($0, by: writer) }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        return ScaleLoad(records: records)
    }

    private static func record(_ number: Int, by writer: ClaimWriter) throws -> KafkaProducerRecord {
        let purchase = SimulatedPurchase(
            transactionID: TransactionID(String(3_000_000_000_000_000 + number)), productID: Catalogue.gems,
            purchasedAt: writer.now)
        let message = try writer.write(
            Claim(
                kind: .receipt, number: number, bundleID: Catalogue.bundleID, userID: UserID("user-\(number)"),
                orderID: nil,
                bought: [Bought(purchase: purchase, environment: .production)], evidence: .receipt,
                expectation: .granted, faults: []))
        return KafkaProducerRecord(topic: Topic.submitted, key: message.key, value: message.value)
    }

    /// Submits for so long, or until there are no more receipts.
    ///
    /// - Returns: when the last was submitted, in milliseconds since 1970, and whether there were enough.
    func submit(
        for length: Duration, to client: KafkaClientConfiguration, watching ledger: PostgresLedger
    ) async throws -> (end: Int64, sufficed: Bool) {
        let producer = try KafkaProducer(configuration: KafkaProducerConfiguration(client: client), logger: .silent)
        let start = ContinuousClock.now
        var sent = 0
        while ContinuousClock.now - start < length, sent < records.count {
            let settled = try await ledger.submissions(SubmissionFilter(), before: nil, limit: 1).first?.sequence ?? 0
            while sent < min(records.count, Int(settled) + Self.ahead) {
                let batch = records[sent..<min(sent + Self.batch, records.count)]
                _ = await producer.send(Array(batch))
                sent += batch.count
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        await producer.close(deadline: .seconds(5))
        return (SystemTime.milliseconds, sent < records.count)
    }
}
