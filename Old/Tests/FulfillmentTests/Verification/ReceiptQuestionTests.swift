import AppStore
import Foundation
import HTTPTransport
import Testing

@testable import Fulfillment

struct ReceiptQuestionTests {
    private let secrets = [SharedSecret("first"), SharedSecret("second")]
    private let text = "MIIBAA=="

    private func members(_ body: RequestBody) throws -> [String: String] {
        let object = try #require(JSONSerialization.jsonObject(with: Data(body.bytes)) as? [String: Any])
        return object.compactMapValues { $0 as? String }
    }

    @Test func `each secret is sent with the same receipt`() throws {
        let question = ReceiptQuestion(try ReceiptText(text), secret: secrets[0], mark: ReceiptMark())

        #expect(try members(question.body(with: secrets[0])) == ["receipt-data": text, "password": "first"])
        #expect(try members(question.body(with: secrets[1])) == ["receipt-data": text, "password": "second"])
        #expect(try members(question.body(with: nil)) == ["receipt-data": text])
    }

    @Test func `asking again with the same secret takes no copy`() throws {
        for secret in [nil, secrets[0]] {
            let question = ReceiptQuestion(try ReceiptText(text), secret: secret, mark: ReceiptMark())

            #expect(question.body(with: secret) === question.body(with: secret))
        }
    }

    @Test func `the receipt is there for who wants to keep it`() throws {
        for secret in [nil, secrets[0]] {
            let question = ReceiptQuestion(try ReceiptText(text), secret: secret, mark: ReceiptMark())
            #expect(question.base64 == Array(text.utf8))
        }
    }
}
