import AppStoreSimulator
import Foundation
import Purchases

/// Makes the demo's evidence: Apple's, and forgeries that look like it.
struct DemoIssuer: Sendable {
    private let receipts: ReceiptFactory
    private let transactions: SignedTransactionFactory
    private let forgedReceipts: ReceiptFactory
    private let forgedTransactions: SignedTransactionFactory

    /// An issuer whose genuine evidence is signed by an authority; forgeries are signed by one that nobody knows.
    init(authority: SimulatorAuthority, now: Timestamp) throws {
        let forger = try SimulatorAuthority(now: Date(timeIntervalSince1970: Double(now.milliseconds) / 1000))
        receipts = try ReceiptFactory(authority: authority)
        transactions = try SignedTransactionFactory(authority: authority)
        forgedReceipts = try ReceiptFactory(authority: forger)
        forgedTransactions = try SignedTransactionFactory(authority: forger)
    }

    /// A receipt, base64.
    func receipt(_ specification: ReceiptSpecification, forged: Bool) throws -> String {
        try (forged ? forgedReceipts : receipts).base64(specification)
    }

    /// A compact JWS.
    func signed(_ transaction: TransactionSpecification, at signedAt: Timestamp, forged: Bool) throws -> String {
        try (forged ? forgedTransactions : transactions).signed(transaction, signedAt: signedAt)
    }
}
