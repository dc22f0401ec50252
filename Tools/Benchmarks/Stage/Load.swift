import AppStoreSimulator
import Contract
import Kafka
import KafkaTesting
import Scheduling
import Threading

/// The evidence of a load.
enum EvidenceKind: String, CaseIterable {
    case receipt
    case signed
}

/// Makes purchases and submits them, each by another user.
final class Load {
    private static let receiptBytes = 8192
    private let transactions: SignedTransactionFactory
    private let receipts: ReceiptFactory
    private let writer: RecordWriter
    /// When each submission was handed to the client, in milliseconds since 1970; the index is its number.
    private(set) var sentAt: [Int64] = []
    /// The purchase of each submission.
    private(set) var expected: [String: String] = [:]

    init(_ stage: Stage) throws {
        transactions = SignedTransactionFactory(authority: stage.authority)
        receipts = try ReceiptFactory(authority: stage.authority)
        var client = stage.kafka.client
        client.properties["linger.ms"] = "0"
        writer = try RecordWriter(client)
    }

    /// Makes and submits purchases, and waits until the broker has them.
    func submit(_ count: Int, _ kind: EvidenceKind) throws {
        for _ in 0..<count { try submit(kind) }
        try flush()
    }

    /// Makes a purchase and submits it.
    func submit(_ kind: EvidenceKind) throws { submit(try evidence(kind)) }

    /// A member of a submission, and the purchase that it proves.
    typealias Evidence = (member: String, transaction: String)

    private var purchases = 2_000_000_000_000_000

    func evidence(_ kind: EvidenceKind) throws -> Evidence {
        purchases += 1
        let purchase = SimulatedPurchase(
            transactionID: TransactionID(String(purchases)), productID: "gems", purchasedAt: .thisSecond)
        switch kind {
        case .signed:
            let text = try transactions.signed(
                TransactionSpecification(purchase, bundleID: Stage.app, environment: .production),
                signedAt: .thisSecond)
            return (#""signedTransaction":"\#(text)""#, purchase.transactionID.rawValue)
        case .receipt:
            return (#""receipt":"\#(try receipt(of: purchase))""#, purchase.transactionID.rawValue)
        }
    }

    private func receipt(of purchase: SimulatedPurchase) throws -> String {
        try receipts.base64(
            ReceiptSpecification(
                bundleID: Stage.app, environment: .production, purchases: [purchase], creationDate: .thisSecond,
                targetSize: Self.receiptBytes))
    }

    func submit(_ evidence: Evidence) {
        let (name, user) = (Self.name(sentAt.count), "player-\(sentAt.count)")
        expected[name] = evidence.transaction
        let text = #"{"submissionId":"\#(name)","userId":"\#(user)","bundleId":"\#(Stage.app)",\#(evidence.member)}"#
        let record = KafkaProducerRecord(
            topic: Topic.submitted.defaultName, key: Array(user.utf8), value: Array(text.utf8))
        sentAt.append(WallClock.milliseconds)
        writer.write(record)
    }

    /// Makes purchases, submits them at an even pace, and waits until the broker has them.
    /// - Parameter rate: Submissions a second.
    /// - Returns: Their numbers.
    func submit(_ kind: EvidenceKind, rate: Int, seconds: Int) throws -> Range<Int> {
        let first = sentAt.count
        let made = try (0..<(rate * seconds)).map { _ in try evidence(kind) }
        EvenPace(rate: rate).run(made.count) { submit(made[$0]) }
        try flush()
        return first..<sentAt.count
    }

    static func name(_ number: Int) -> String { "order-\(number)" }

    /// Waits until the broker has everything.
    func flush() throws { try writer.flush() }

    /// The body of a call to verifyReceipt.
    func callBody() throws -> [UInt8] {
        let member = try evidence(.receipt).member.replacing("\"receipt\":", with: "\"receipt-data\":")
        return Array("{\(member),\"exclude-old-transactions\":false}".utf8)
    }
}
