import AppStore
import AppStoreSimulator
import Foundation
import Fulfillment
import Glibc
import Ledger
import Logging
import Purchases

/// The stages of a signed transaction, each fed with what the one before it makes, and what a receipt goes through instead
/// of its verification.
struct StageBench {
    private static let bundleID: BundleID = "com.example.game"
    /// Receipts that are read in turn, what each holds, and its size: what a device sends that has bought a few times.
    private static let receiptCount = 16
    private static let receiptPurchases = 8
    private static let receiptBytes = 8 << 10

    private let batch: Int
    private let now: Timestamp
    private let records: [SubmissionRecord]
    private let tokens: [EvidenceText]
    private let receipts: [EvidenceText]
    private let verifier: SignedTransactionVerifier

    init(count: Int, batch: Int) throws {
        self.batch = batch
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        self.now = now
        let authority = try SimulatorAuthority(now: Date())
        let factory = try SignedTransactionFactory(authority: authority)
        let tokens = try (0..<count).map { index in
            let purchase = SimulatedPurchase(
                transactionID: TransactionID(String(2_000_000_000 + index)), productID: "gems", purchasedAt: now)
            return try factory.signed(
                TransactionSpecification(purchase, bundleID: Self.bundleID, environment: .production), signedAt: now)
        }
        self.tokens = tokens.map { EvidenceText($0) }
        records = tokens.enumerated().map { index, token in
            let text =
                #"{"submissionId":"bench-\#(index)","userId":"user-\#(index)","bundleId":"\#(Self.bundleID)","#
                + #""signedTransaction":"\#(token)"}"#
            return SubmissionRecord(
                partition: TopicPartition(topic: "receipts.submitted", partition: 0), offset: Int64(index),
                timestamp: now, key: nil, value: Array(text.utf8), headers: [])
        }
        let receiptFactory = try ReceiptFactory(authority: authority)
        receipts = try (0..<Self.receiptCount).map { receipt in
            let purchases = (0..<Self.receiptPurchases).map { index in
                SimulatedPurchase(
                    transactionID: TransactionID(String(3_000_000_000 + 1000 * receipt + index)), productID: "gems",
                    purchasedAt: now)
            }
            return EvidenceText(
                try receiptFactory.base64(
                    ReceiptSpecification(
                        bundleID: Self.bundleID, environment: .production, purchases: purchases, creationDate: now,
                        targetSize: Self.receiptBytes)))
        }
        verifier = SignedTransactionVerifier(roots: try TrustedRoots(pem: authority.rootsPEM))
        // So that every round finds the certificates remembered.
        _ = try verifier.verify(tokens[0], now: now)
    }

    /// One round over all stages.
    func measure() async throws -> [StageCost] {
        var costs: [StageCost] = []
        costs.append(StageCost(stage: "raw P-256 verification", microseconds: try RawVerification.microseconds()))
        costs.append(
            StageCost(stage: "raw, signatures that differ", microseconds: try RawVerification.microsecondsOfDifferent())
        )
        costs.append(cost("read the submission") { _ = RecordSubject(of: records[$0]) })
        costs.append(try cost("verify the signed transaction") { _ = try verifier.verify(tokens[$0], now: now) })
        let transactions = try tokens.map { try verifier.verify($0, now: now) }
        let app = App(bundleID: Self.bundleID)
        costs.append(
            try cost("judge the transaction") { index in
                _ = try verdict(on: transactions[index], index, app)
            })
        let settlements = try transactions.indices.map { index in
            Settlement(
                claimant: claimant(index), fingerprint: String(repeating: "ab", count: 32),
                origin: records[index].origin, receivedAt: now, attempts: 0,
                decision: .grant(try verdict(on: transactions[index], index, app), by: .signedTransaction))
        }
        costs.append(
            cost("write the event") { index in
                guard case .grant(let purchases, let verifiedBy) = settlements[index].decision else { return }
                _ = GrantClaim.claims(of: purchases, by: verifiedBy, claimant: settlements[index].claimant, at: now)
            })
        costs += try await ledgerCosts(settlements)
        let texts = try receipts.map { try ReceiptText($0) }
        costs.append(try cost("read the receipt's text") { _ = try ReceiptText(receipts[$0 % receipts.count]) })
        costs.append(try cost("read the receipt") { _ = try AppReceipt(der: texts[$0 % texts.count].bytes) })
        costs.append(try answerCost(app, about: try AppReceipt(der: texts[0].bytes)))
        return costs
    }

    /// From the bytes of verifyReceipt's answer to the verdict.
    private func answerCost(_ app: App, about receipt: AppReceipt) throws -> StageCost {
        let transaction = receipt.purchases.first?.transactionID?.rawValue ?? ""
        let answer = AppStoreReply.response(
            httpStatus: 200, retryAfter: nil,
            body: ReceiptAnswer(bundleID: Self.bundleID.rawValue).body(about: Array(transaction.utf8)))
        let submission = Submission(
            id: "bench", userID: "user", bundleID: Self.bundleID, evidence: .receipt(base64: ""))
        return try cost("read the answer to a receipt") { _ in
            var exchange = VerifyReceiptExchange(
                app: app, submission: submission, receivedAt: now, sharedSecrets: [], sent: ReceiptMark(of: receipt),
                isRetry: false)
            _ = exchange.start()
            guard case .conclude(.verified) = exchange.answered(answer, now: now) else {
                throw BenchFailure(description: "a receipt was not verified")
            }
        }
    }

    private func ledgerCosts(_ settlements: [Settlement]) async throws -> [StageCost] {
        let file = FileManager.default.temporaryDirectory.appending(path: "grantor-stages-\(UUID().uuidString).db")
        defer {
            // What is left of a benchmark's file harms nobody.
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        }
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: file.path, migrate: true),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let batches = stride(from: 0, to: settlements.count, by: batch).map {
            Array(settlements[$0..<min($0 + batch, settlements.count)])
        }
        var looking = 0.0
        var settling = 0.0
        for batch in batches {
            let start = clock()
            let known = try await ledger.recorded(batch.map(\.key))
            let middle = clock()
            let result = try await ledger.settle(batch, quarantines: [], now: now)
            settling += Double(clock() - middle)
            looking += Double(middle - start)
            guard known.isEmpty, result.added?.count == batch.count else {
                throw BenchFailure(description: "a batch was not granted as a whole")
            }
        }
        try await ledger.close()
        return [
            StageCost(stage: "look for it in the ledger (SQLite)", microseconds: looking / Double(settlements.count)),
            StageCost(stage: "settle it, event included (SQLite)", microseconds: settling / Double(settlements.count)),
        ]
    }

    private func verdict(
        on transaction: SignedTransaction, _ index: Int, _ app: App
    ) throws -> [GrantablePurchase] {
        let submission = Submission(
            id: claimant(index).submissionID, userID: claimant(index).userID, bundleID: Self.bundleID,
            evidence: .signedTransaction(""))
        let judge = SignedTransactionJudge(app: app, submission: submission, receivedAt: now)
        guard case .verified(let purchases, _) = judge.verdict(on: transaction, by: .signedTransaction) else {
            throw BenchFailure(description: "a transaction was not verified")
        }
        return purchases
    }

    private func claimant(_ index: Int) -> Claimant {
        Claimant(
            submissionID: SubmissionID("bench-\(index)"), userID: UserID("user-\(index)"), bundleID: Self.bundleID)
    }

    /// CPU time of the process (clock(3), whose unit is the microsecond); nothing else runs in it.
    private func cost(_ stage: String, _ body: (Int) throws -> Void) rethrows -> StageCost {
        let start = clock()
        for index in records.indices { try body(index) }
        return StageCost(stage: stage, microseconds: Double(clock() - start) / Double(records.count))
    }
}
