import AppStore
import Fulfillment
import Purchases

/// What takes bytes that somebody else wrote. Whatever they are, it must end, without a crash, and by its rules.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A signed transaction as it stands in a message: nothing that was not signed may pass.
    case signedTransaction
    /// The payload of a signed transaction, as if its signature had held.
    case payload
    /// An App Store receipt: nothing that was not signed may pass.
    case receipt
    /// Bodies of Apple's answers, to verifyReceipt and to the App Store Server API.
    case answers
    /// A record of the input topic.
    case submission

    /// A rule that was broken.
    package struct Broken: Error {
        package let rule: String
    }

    private static let now = Timestamp(milliseconds: 1_795_237_200_000)
    private static let app = App(bundleID: "com.example.game")

    /// Runs the target once.
    package func run(_ bytes: [UInt8]) throws {
        switch self {
        case .signedTransaction: try Self.signedTransaction(bytes)
        case .payload: _ = try? SignedTransaction(payload: bytes).purchase
        case .receipt: try Self.receipt(bytes)
        case .answers: try Self.answers(bytes)
        case .submission: _ = SingleVerification.read(bytes)
        }
    }

    private static let transactions = Result { try SignedTransactionVerifier(roots: TrustedRoots.apple()) }
    private static let receipts = Result { try ReceiptVerifier(roots: TrustedRoots.apple()) }

    /// As text, and as the header of one, where most of what an attacker can write stands.
    private static func signedTransaction(_ bytes: [UInt8]) throws {
        let verifier = try transactions.get()
        let header = base64URL(bytes)
        for text in [EvidenceText(bytes[...]), EvidenceText("\(header).e30.\(String(repeating: "A", count: 86))")] {
            guard (try? verifier.verify(text, now: now)) == nil else { throw Broken(rule: "nobody signed it") }
            guard !verifier.explain(text, now: now).isPassed else { throw Broken(rule: "nobody signed it") }
        }
    }

    private static func receipt(_ bytes: [UInt8]) throws {
        guard let receipt = try? AppReceipt(der: bytes) else { return }
        _ = receipt.purchases
        _ = receipt.contradiction(with: app)
        _ = receipt.lookup(for: claim)
        _ = LocalReceiptJudge(app: app, submission: claim, receivedAt: now).verdict(on: receipt)
        let verifier = try receipts.get()
        guard (try? verifier.verify(receipt)) == nil else { throw Broken(rule: "nobody signed it") }
    }

    private static func answers(_ bytes: [UInt8]) throws {
        for status in [200, 400, 401, 404, 429, 500] {
            let reply = AppStoreReply.response(
                httpStatus: status, retryAfter: String(decoding: bytes.prefix(32), as: UTF8.self), body: bytes)
            var exchange = VerifyReceiptExchange(
                app: app, submission: claim, receivedAt: now, sharedSecrets: [],
                sent: ReceiptMark(transactionID: "1"), isRetry: status == 400)
            _ = exchange.start()
            if exchange.answered(reply, now: now) == .compare { _ = exchange.compared(with: []) }
            for question in [TransactionLookup.Question.transaction("1"), .history(of: ProvenCustomer("1"))] {
                var lookup = TransactionLookup(
                    app: app, submission: claim, receivedAt: now, question: question,
                    transactions: try transactions.get())
                _ = lookup.start()
                if case .conclude(.verified) = lookup.answered(reply, now: now) {
                    throw Broken(rule: "nobody signed it")
                }
            }
        }
    }

    private static let claim = Submission(
        id: "s", userID: "u", bundleID: "com.example.game", evidence: .transactionID("1"))

    private static func base64URL(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0...group.count { text.append(alphabet[bits >> (18 - 6 * place) & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
