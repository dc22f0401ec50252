import Foundation
import Ledger
import Logging
import PostgresTesting
import Purchases

/// One run: fills a ledger through its contract, then tables like its own with bare inserts of the same rows.
struct LedgerBench: Sendable {
    let outcomes: Int
    let batch: Int
    let concurrency: Int
    let seed: UInt64

    func measure(at url: String?) async throws -> LedgerMeasurement {
        if let url { return LedgerMeasurement(settling: try await settle(at: url), bare: nil) }
        let server = try await PostgresServer.start()
        let (filled, bare) = (try await NewPostgresLedger(on: server), try await NewPostgresLedger(on: server))
        let settling = try await settle(at: filled.url)
        let inserts = BareInserts(url: bare.url, concurrency: concurrency)
        let statements = try inserts.statements(from: filled.url, batch: batch)
        // What the first half wrote is not to be written to the disk during the second.
        try await server.query("CHECKPOINT")
        let duration = try inserts.run(statements)
        let found = try await server.query("SELECT count(*) FROM grants", schema: bare.schema)
        guard found == "\(outcomes)" else { throw BenchFailure(description: "the bare inserts wrote \(found) grants") }
        try await server.close()
        return LedgerMeasurement(settling: settling, bare: Double(outcomes) / duration)
    }

    /// - Returns: outcomes per second.
    private func settle(at url: String) async throws -> Double {
        var configuration = try NewPostgresLedger.configuration(of: url)
        configuration.maxConnections = concurrency
        let ledger = try await PostgresLedger.open(
            configuration, logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let batches = stride(from: 0, to: outcomes, by: batch).map { start in
            (start..<min(start + batch, outcomes)).map { LedgerWorkload.settlement($0, seed: seed) }
        }
        let clock = ContinuousClock()
        let duration = try await clock.measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<concurrency {
                    group.addTask {
                        for index in stride(from: worker, to: batches.count, by: concurrency) {
                            let result = try await ledger.settle(
                                batches[index], quarantines: [], now: LedgerWorkload.now)
                            guard result.added?.count == batches[index].count else {
                                throw BenchFailure(description: "a batch was not granted as a whole")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        await ledger.close()
        return Double(outcomes) / (duration / .seconds(1))
    }
}

/// Submissions as a game's backend sends them: ids without order, many users, one purchase each.
enum LedgerWorkload {
    static let now = Timestamp(milliseconds: 1_795_000_000_000)

    static func settlement(_ index: Int, seed: UInt64) -> Settlement {
        var mixed = (seed << 40 | UInt64(index)) &* 0x9e37_79b9_7f4a_7c15
        mixed ^= mixed >> 29
        let hex = String(mixed, radix: 16)
        let id = TransactionID("\(2_000_000_000_000_000 + index)")
        let purchase = Purchase(
            transactionID: id, originalTransactionID: id, productID: "com.example.game.gems100",
            environment: .production, purchasedAt: Timestamp(milliseconds: now.milliseconds - 60_000),
            appAccountToken: "7f4a7c15-0000-4000-8000-000000000000")
        let granted = GrantablePurchase(
            purchase: purchase, type: .consumable, items: [Item(item: "gems", quantity: 100)])
        let claimant = Claimant(
            submissionID: SubmissionID("\(hex)-purchase-\(index)"), userID: UserID("user-\(mixed % 1_000_000)"),
            bundleID: "com.example.game", orderID: OrderID("order-\(hex)"),
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        return Settlement(
            claimant: claimant, fingerprint: String(repeating: "ab", count: 32),
            origin: Origin(topic: "receipts.submitted", partition: Int32(index % 12), offset: Int64(index)),
            receivedAt: Timestamp(milliseconds: now.milliseconds - 1000), attempts: 1,
            decision: .grant([granted], by: .signedTransaction))
    }
}

/// Outcomes per second.
struct LedgerMeasurement: Sendable {
    let settling: Double
    /// The same rows by bare inserts; nil if that was not measured.
    let bare: Double?

    /// Medians, for people.
    static func text(_ results: [LedgerMeasurement], batch: Int, concurrency: Int) -> String {
        let settling = Statistics.median(results.map(\.settling))
        let bare = results.compactMap(\.bare)
        var text = String(
            format: "PostgreSQL ledger, batches of %d, %d at a time: %.0f outcomes/s", batch, concurrency, settling)
        if !bare.isEmpty {
            text += String(
                format: "; bare inserts of the same rows %.0f/s; ratio %.2f", Statistics.median(bare),
                settling / Statistics.median(bare))
        }
        return text
    }
}
