import AppStoreSimulator
import Foundation
import Kafka
import Purchases

/// Submissions by number, each about a purchase of its own.
///
/// A receipt is copied from a model and numbered (``ReceiptNumber``), which takes microseconds and no memory. Signing a
/// transaction takes more, so those are best made before the clock starts.
struct SubmissionSource: Sendable {
    private static let userPrefix = "user-"

    /// Number of the first submission, so that runs on one ledger do not meet.
    let first: Int
    /// Whether ids have no order, as ids of many producers have none together.
    private let isScattered: Bool
    private let evidence: BenchCase.Evidence
    private let transactions: SignedTransactionFactory
    /// Base64.
    let model: [UInt8]
    /// The same, decoded, and where its transaction is named.
    private let der: [UInt8]
    private let places: [Int]
    private let now: Timestamp
    private var prepared: [KafkaProducerRecord] = []

    init(_ scenario: BenchCase, authority: SimulatorAuthority, first: Int = 0, isScattered: Bool = false) throws {
        self.first = first
        self.isScattered = isScattered
        evidence = scenario.evidence
        now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        transactions = try SignedTransactionFactory(authority: authority)
        let purchase = SimulatedPurchase(
            transactionID: TransactionID(String(ReceiptNumber.first)), productID: "gems", purchasedAt: now)
        let receipt = ReceiptSpecification(
            bundleID: BundleID(BenchPrograms.bundleID), environment: .production, purchases: [purchase],
            creationDate: ReceiptAnswer.createdAt, targetSize: scenario.receiptBytes)
        let text = try ReceiptFactory(authority: authority).base64(receipt)
        model = Array(text.utf8)
        der = Data(base64Encoded: text).map { Array($0) } ?? []
        places = ReceiptNumber.places(of: ReceiptNumber.first, in: der)
    }

    /// Makes so many of the first submissions now.
    mutating func prepare(_ count: Int) throws {
        prepared = try (0..<count).map(makeRecord)
    }

    /// The submissions with these numbers, counted from zero.
    func records(_ numbers: Range<Int>) throws -> [KafkaProducerRecord] {
        try numbers.map { try $0 < prepared.count ? prepared[$0] : makeRecord($0) }
    }

    /// The number of the submission that an event answers, from the event's key; nil if it is not of this source.
    func number(ofKey key: [UInt8]?) -> Int? {
        let text = String(decoding: key ?? [], as: UTF8.self)
        guard text.hasPrefix(Self.userPrefix), let number = text.split(separator: "-").last.flatMap({ Int($0) })
        else { return nil }
        return number - first
    }

    private func makeRecord(_ place: Int) throws -> KafkaProducerRecord {
        let number = first + place
        // Mixed by a multiplication whose product keeps all bits apart.
        let mixed = String(UInt64(number + 1) &* 0x9e37_79b9_7f4a_7c15, radix: 16)
        let scatter = isScattered ? "\(mixed)-" : ""
        let user = "\(Self.userPrefix)\(scatter)\(number)"
        let head =
            #"{"submissionId":"\#(scatter)bench-\#(number)","userId":"\#(user)","bundleId":"\#(BenchPrograms.bundleID)",""#
        return KafkaProducerRecord(
            topic: "receipts.submitted", key: Array(user.utf8),
            value: Array(head.utf8) + (try evidence(about: ReceiptNumber.first + number)) + Array(#""}"#.utf8))
    }

    private func evidence(about transaction: Int) throws -> [UInt8] {
        switch evidence {
        case .receipt:
            var base64 = model
            ReceiptNumber.write(transaction, at: places, of: der, over: &base64)
            ReceiptNumber.write(transaction, over: &base64)
            return Array(#"receipt":""#.utf8) + base64
        case .signedTransaction:
            let purchase = SimulatedPurchase(
                transactionID: TransactionID(String(transaction)), productID: "gems", purchasedAt: now)
            let specification = TransactionSpecification(
                purchase, bundleID: BundleID(BenchPrograms.bundleID), environment: .production)
            return Array(#"signedTransaction":""#.utf8)
                + Array(try transactions.signed(specification, signedAt: now).utf8)
        }
    }
}
