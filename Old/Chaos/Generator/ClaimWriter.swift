import AppStoreSimulator
import Foundation
import Purchases

/// Makes a claim's message as a game's backend would, with evidence from this run's App Store.
struct ClaimWriter: Sendable {
    let simulator: AppStoreSimulator
    /// Signs what looks right and is not.
    let forger: ReceiptFactory
    let now: Timestamp

    /// A record's parts.
    struct Message: Hashable, Sendable {
        let key: [UInt8]
        /// Nil is a tombstone.
        let value: [UInt8]?
    }

    /// Tells Apple about the purchases where needed, and writes the message.
    func write(_ claim: Claim) throws -> Message {
        switch claim.kind {
        case .garbage: return Message(key: Self.bytes(claim.userID), value: Array("{garbage \(claim.number)".utf8))
        case .tombstone: return Message(key: Self.bytes(claim.userID), value: nil)
        default: break
        }
        if let transaction = claim.transactions.first, !claim.faults.isEmpty {
            try simulator.script(transaction, claim.faults)
        }
        let body = Body(
            submissionId: claim.submissionID?.rawValue, userId: claim.userID.rawValue,
            bundleId: claim.bundleID.rawValue, orderId: claim.orderID?.rawValue,
            receipt: try receipt(claim), signedTransaction: try signedTransaction(claim),
            transactionId: try transactionID(claim),
            submittedAt: claim.kind == .malformed ? "yesterday" : nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Message(key: Self.bytes(claim.userID), value: Array(try encoder.encode(body)))
    }

    private struct Body: Encodable {
        let submissionId: String?
        let userId: String
        let bundleId: String
        let orderId: String?
        let receipt: String?
        let signedTransaction: String?
        let transactionId: String?
        let submittedAt: String?
    }

    private func receipt(_ claim: Claim) throws -> String? {
        guard claim.evidence == .receipt || claim.evidence == .forgedReceipt, let first = claim.bought.first else {
            return nil
        }
        let specification = ReceiptSpecification(
            bundleID: claim.bundleID, environment: first.environment == .production ? .production : .sandbox,
            purchases: claim.bought.map(\.purchase), creationDate: now)
        return try claim.evidence == .forgedReceipt ? forger.base64(specification) : simulator.issue(specification)
    }

    private func signedTransaction(_ claim: Claim) throws -> String? {
        guard claim.evidence == .signedTransaction, let bought = claim.bought.first else { return nil }
        return try simulator.issueSigned(
            TransactionSpecification(
                bought.purchase, bundleID: claim.bundleID, environment: bought.environment))
    }

    private func transactionID(_ claim: Claim) throws -> String? {
        guard claim.evidence == .transactionID, let bought = claim.bought.first else {
            // Without any evidence a submission would be malformed in another way than is meant.
            return claim.kind == .malformed ? "1" : nil
        }
        try simulator.register(bought.purchase, bundleID: claim.bundleID, environment: bought.environment)
        return bought.purchase.transactionID.rawValue
    }

    private static func bytes(_ user: UserID) -> [UInt8] {
        Array(user.rawValue.utf8)
    }
}
