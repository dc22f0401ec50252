import Contract
import Glibc
import Ledger
import Scheduling

/// The rate of writes into a ledger with many grants, beside that into an empty one. The two take turns.
final class GrowthRun {
    /// Rows of one commit.
    private static let batch = 250
    private static let wanted: [LedgerKind: Double] = [.postgres: 0.95, .sqlite: 0.85]

    private let kind: LedgerKind
    private let rows: Int
    private let empty: any FillableLedger
    private let full: any FillableLedger
    private var purchases = PurchaseSeries()

    /// - Parameter rows: Grants of each turn, which ends with a checkpoint. The first change of a page after a
    ///   checkpoint costs most, so short turns cost more than a server's own checkpoints do.
    init(_ kind: LedgerKind, grants: Int, rows: Int) throws {
        (self.kind, self.rows) = (kind, rows)
        (empty, full) = try GrowthLedgers.make(kind)
        let start = Instant.now
        for ledger in [empty, full] { try ledger.takeOver() }
        // The rows that the others are made after.
        _ = try write(Self.batch, to: full)
        try full.fill(grants)
        Console.tell("\(grants) grants were filled in within \(Int((Instant.now - start) / .seconds(1))) s\n")
    }

    func figures() throws -> [Figure] {
        let few = try write(rows, to: empty)
        let many = try write(rows, to: full)
        return [
            Figure("empty", few, "grants/s"),
            Figure("full", many, "grants/s"),
            Figure("full, times empty", many / few, "", wanted: Self.wanted[kind].map { .atLeast($0) }),
        ]
    }

    /// - Returns: grants a second, with the checkpoint that they make necessary.
    private func write(_ count: Int, to ledger: any FillableLedger) throws -> Double {
        var elapsed = Duration.zero
        for _ in 0..<(count / Self.batch) {
            let decisions = try (0..<Self.batch).map { _ in try purchases.next() }
            let start = Instant.now
            let results = try ledger.connection.write(decisions)
            elapsed += Instant.now - start
            let areNew = results.allSatisfy {
                if case .written(.granted(created: 1), _, _) = $0 { true } else { false }
            }
            guard areNew else { throw BenchFailure("a decision was not written") }
        }
        let start = Instant.now
        try ledger.checkpoint()
        elapsed += Instant.now - start
        return Double(count) / (elapsed / .seconds(1))
    }
}

/// Purchases as a fleet meets them: transaction ids ascend, submissions have UUIDs of version 7, users random ones.
struct PurchaseSeries {
    static let ownership = PartitionOwnership(
        partition: TopicPartition(topic: "receipts.submitted", partition: 0), generation: Generation(rawValue: 1))
    /// Above all that a ledger is filled with.
    private var number: Int64 = 3_000_000_000_000_000
    private var random = SystemRandomNumberGenerator()

    mutating func next() throws -> Decision {
        number += 1
        let now = Timestamp.now
        let submission = Submission(
            claimant: Claimant(
                submissionID: SubmissionID(uuid(UInt64(now.milliseconds) << 16 | 0x7000 | UInt64(number & 0xfff))),
                userID: UserID(uuid(random.next())), bundleID: Stage.app, orderID: nil, traceparent: nil),
            claim: .nothing,
            evidence: .signedTransaction(""),
            origin: Origin(topic: "receipts.submitted", partition: 0, offset: number), receivedAt: now)
        return try .granting(
            TransactionID("\(number)"), to: submission,
            purchasedAt: Timestamp(milliseconds: now.milliseconds - 30_000), under: Self.ownership, at: now)
    }

    /// - Parameter first: The first 64 bits.
    private mutating func uuid(_ first: UInt64) -> String {
        let digits = Array(Self.hex(first) + Self.hex(random.next()))
        return [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
            .map { String($0) }.joined(separator: "-")
    }

    private static func hex(_ word: UInt64) -> String {
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}

extension Decision {
    private static let product = Product(
        id: "com.example.gems.100", type: .consumable, items: [Item(item: "gems", quantity: 100)])

    /// A submission's purchase of a consumable, as Apple's signature proves it.
    static func granting(
        _ transaction: TransactionID, to submission: Submission, purchasedAt: Timestamp,
        under ownership: PartitionOwnership, at now: Timestamp
    ) throws -> Decision {
        let purchase = Purchase(
            transactionID: transaction, originalTransactionID: transaction, webOrderLineItemID: nil,
            productID: product.id, quantity: 1, environment: .production, purchasedAt: purchasedAt, expiresAt: nil,
            revokedAt: nil, isUpgraded: false, ownership: .purchased, appAccountToken: nil, type: nil,
            payment: Payment(price: 990, currency: "EUR", storefront: "DEU"), offer: nil)
        guard let granted = GrantablePurchase(purchase, of: product) else { throw BenchFailure("no purchase") }
        return Decision(
            subject: .submission(submission), source: .record(ownership),
            content: .grant([granted], by: .signedTransaction), attempts: 1, decidedAt: now, owesCall: false,
            tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
    }
}
