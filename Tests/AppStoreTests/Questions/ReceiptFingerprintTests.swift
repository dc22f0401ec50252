import Contract
import Foundation
import Testing

@testable import AppStore

@Suite("Receipt fingerprint")
struct ReceiptFingerprintTests {
    private let moment = Timestamp(milliseconds: 1_795_237_153_000)

    private func response(_ ids: [String], createdAt: Timestamp? = nil) throws -> VerifyReceiptResponse {
        try #require(
            VerifyReceiptResponse(json: Answer.authentic(inApp: ids.map { Answer.record($0) }, createdAt: createdAt)))
    }

    @Test("matches an answer with all of the purchases, made in the same second")
    func matches() throws {
        let fingerprint = ReceiptFingerprint(createdAt: moment, transactions: ["2001", "2002"])
        for (ids, createdAt, isMatch) in [
            (["2002", "2001"], moment, true), (["9", "2001", "2002"], nil, true),
            (["2001", "2002"], moment.advanced(by: .milliseconds(999)), true),
            (["2001", "2002"], moment.advanced(by: .seconds(1)), false),
            (["2001", "2002"], moment.advanced(by: .milliseconds(-1)), false), (["2001"], moment, false),
            (["2002"], nil, false), (["9"], moment, false), ([], moment, false),
        ] as [([String], Timestamp?, Bool)] {
            #expect(fingerprint.matches(try response(ids, createdAt: createdAt), isFresh: false) == isMatch)
        }
    }

    @Test("insists neither on the moment nor on all over a fresh connection, but on a purchase")
    func fresh() throws {
        let fingerprint = ReceiptFingerprint(createdAt: moment, transactions: ["2001", "2002"])
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

@Suite("verifyReceipt request")
struct VerifyReceiptRequestTests {
    @Test("has Apple's three members")
    func members() {
        let body = VerifyReceiptRequest(base64: Array("AA+/".utf8)[...], secret: SharedSecret("0a1b"))
            .bodyParts.joined()
        let expected = #"{"receipt-data":"AA+/","password":"0a1b","exclude-old-transactions":false}"#
        #expect(String(decoding: body, as: UTF8.self) == expected)
    }

    @Test("leaves the password out where there is none")
    func withoutSecret() {
        let body = VerifyReceiptRequest(base64: Array("AA+/".utf8)[...], secret: nil).bodyParts.joined()
        #expect(String(decoding: body, as: UTF8.self) == #"{"receipt-data":"AA+/","exclude-old-transactions":false}"#)
    }

    @Test(
        "escapes a secret so that it cannot end its string", arguments: [#"a"b\c"#, "\u{0}\u{1f}\n\t", "ä🙂", "\u{7f}"])
    func escaping(secret: String) throws {
        let body = VerifyReceiptRequest(base64: [], secret: SharedSecret(secret)).bodyParts.joined()
        let object = try #require(JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        #expect(object["password"] as? String == secret)
        #expect(object.count == 3)
    }
}
