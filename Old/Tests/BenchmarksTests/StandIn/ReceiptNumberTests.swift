import AppStoreSimulator
import Foundation
import NIOCore
import Purchases
import Testing

@testable import grantor_bench

@Suite("Numbered receipts")
struct ReceiptNumberTests {
    private static func body(_ base64: [UInt8], after: String = #"","exclude-old-transactions":false}"#) -> [UInt8] {
        Array(#"{"receipt-data":""#.utf8) + base64 + Array(after.utf8)
    }

    @Test("What is written into a receipt is read from the request that carries it")
    func roundTrip() {
        var base64 = Array(repeating: UInt8(ascii: "A"), count: 4000)
        ReceiptNumber.write(ReceiptNumber.first + 42, over: &base64)
        #expect(base64.count == 4000)
        #expect(ReceiptNumber.read(fromBody: Self.body(base64)) == Array("2000000000000042".utf8))
        let secret = #"","password":"0123456789abcdef","exclude-old-transactions":false}"#
        #expect(ReceiptNumber.read(fromBody: Self.body(base64, after: secret)) == Array("2000000000000042".utf8))
    }

    @Test("A receipt without a number has none")
    func none() {
        #expect(ReceiptNumber.read(fromBody: Self.body(Array(repeating: UInt8(ascii: "A"), count: 4000))) == nil)
        #expect(ReceiptNumber.read(fromBody: []) == nil)
        #expect(ReceiptNumber.read(fromBody: Array("no JSON".utf8)) == nil)
    }

    @Test("A numbered receipt is still base64 of the same length", arguments: [1_000, 1_001, 1_002])
    func base64(size: Int) throws {
        let receipts = try ReceiptFactory(authority: SimulatorAuthority(now: Date()))
        let text = try receipts.base64(
            ReceiptSpecification(
                bundleID: "com.example.game", environment: .production, purchases: [],
                creationDate: Timestamp(milliseconds: 1_795_000_000_000), targetSize: size))
        var base64 = Array(text.utf8)
        ReceiptNumber.write(ReceiptNumber.first + 7, over: &base64)
        let bytes = try #require(Data(base64Encoded: Data(base64)))
        #expect(bytes.count == Data(base64Encoded: text)?.count)
    }

    @Test(
        "A receipt has the number where it had another, and nothing else in it changes",
        arguments: [1_000, 1_001, 1_002])
    func places(size: Int) throws {
        let receipts = try ReceiptFactory(authority: SimulatorAuthority(now: Date()))
        let now = Timestamp(milliseconds: 1_795_000_000_000)
        let text = try receipts.base64(
            ReceiptSpecification(
                bundleID: "com.example.game", environment: .production,
                purchases: [
                    SimulatedPurchase(
                        transactionID: TransactionID(String(ReceiptNumber.first)), productID: "gems", purchasedAt: now)
                ], creationDate: now, targetSize: size))
        let der = Array(try #require(Data(base64Encoded: text)))
        let places = ReceiptNumber.places(of: ReceiptNumber.first, in: der)
        #expect(places.count == 2)
        var base64 = Array(text.utf8)
        ReceiptNumber.write(ReceiptNumber.first + 42, at: places, of: der, over: &base64)
        var expected = der
        for place in places { expected.replaceSubrange(place..<place + 16, with: Array("2000000000000042".utf8)) }
        #expect(Array(try #require(Data(base64Encoded: Data(base64)))) == expected)
    }

    @Test("The answer is as long as its head says, and names the transaction twice")
    func answer() throws {
        let buffer = ReceiptAnswer(bundleID: "com.example.game")
            .response(about: Array("2000000000000042".utf8), ByteBufferAllocator())
        let text = String(buffer: buffer)
        let head = try #require(text.range(of: "\r\n\r\n"))
        let body = text[head.upperBound...]
        #expect(text.contains("content-length: \(body.utf8.count)\r\n"))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        let receipt = try #require(json["receipt"] as? [String: Any])
        let purchase = try #require((receipt["in_app"] as? [[String: Any]])?.first)
        #expect(json["status"] as? Int == 0)
        #expect(receipt["bundle_id"] as? String == "com.example.game")
        #expect(purchase["transaction_id"] as? String == "2000000000000042")
        #expect(purchase["original_transaction_id"] as? String == "2000000000000042")
    }
}
