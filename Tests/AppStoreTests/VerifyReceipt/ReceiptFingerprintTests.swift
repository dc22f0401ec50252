import Contract
import Testing

@testable import AppStore

@Suite("Receipt fingerprint")
struct ReceiptFingerprintTests {
    private let moment = Timestamp(milliseconds: 1_795_237_153_000)

    private func response(_ ids: [String], createdAt: Timestamp? = nil) throws -> VerifyReceiptResponse {
        try #require(
            VerifyReceiptResponse(json: Answer.authentic(inApp: ids.map { Answer.record($0) }, createdAt: createdAt)))
    }

    @Test("matches an answer with one of the purchases, made in the same second")
    func matches() throws {
        let fingerprint = ReceiptFingerprint(createdAt: moment, transactions: ["2001", "2002"])
        for (ids, createdAt, isMatch) in [
            (["2002"], moment, true), (["9", "2001"], nil, true),
            (["2001"], moment.advanced(by: .milliseconds(999)), true),
            (["2001"], moment.advanced(by: .seconds(1)), false),
            (["2001"], moment.advanced(by: .milliseconds(-1)), false), (["9"], moment, false), ([], moment, false),
        ] as [([String], Timestamp?, Bool)] {
            #expect(fingerprint.matches(try response(ids, createdAt: createdAt), isFresh: false) == isMatch)
        }
    }

    @Test("does not insist on the moment over a fresh connection, but on a purchase")
    func fresh() throws {
        let fingerprint = ReceiptFingerprint(createdAt: moment, transactions: ["2001"])
        let other = moment.advanced(by: .seconds(9))
        #expect(fingerprint.matches(try response(["2001"], createdAt: other), isFresh: true))
        #expect(!fingerprint.matches(try response(["9"], createdAt: moment), isFresh: true))
    }

    @Test("keeps a bounded number of purchases")
    func bound() {
        let ids = (0..<5000).map { TransactionID(String($0)) }
        #expect(ReceiptFingerprint(transactions: ids).transactions.count == ReceiptFingerprint.maxTransactions)
    }
}
