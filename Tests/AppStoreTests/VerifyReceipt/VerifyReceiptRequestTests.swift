import Foundation
import Testing

@testable import AppStore

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
