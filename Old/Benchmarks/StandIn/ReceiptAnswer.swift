import NIOCore
import Purchases

/// verifyReceipt's answer to a receipt with one consumable in it, as Apple words it, but for the transaction's id.
struct ReceiptAnswer: Sendable {
    /// When every receipt was made: an answer names the moment of the receipt that it is about.
    static let createdAt = Timestamp(milliseconds: 1_795_262_400_000)

    private let head: [UInt8]
    /// What stands between the places where the id belongs.
    private let parts: [[UInt8]]

    /// - Parameter bundleID: The app that every receipt is attested to.
    init(bundleID: String) {
        let moment = #"2026-11-21 12:00:00 Etc/GMT"#
        let pacific = #"2026-11-21 04:00:00 America/Los_Angeles"#
        func date(_ name: String) -> String {
            #""\#(name)":"\#(moment)","\#(name)_ms":"1795262400000","\#(name)_pst":"\#(pacific)""#
        }
        let texts = [
            #"{"status":0,"environment":"Production","receipt":{"receipt_type":"Production","adam_id":1234567890,"#
                + #""app_item_id":1234567890,"bundle_id":"\#(bundleID)","application_version":"1","#
                + #""download_id":80000000000001,"version_external_identifier":830000001,"#
                + #""original_application_version":"1.0",\#(date("receipt_creation_date")),\#(date("request_date")),"#
                + #"\#(date("original_purchase_date")),"in_app":[{"quantity":"1","product_id":"gems","transaction_id":""#,
            #"","original_transaction_id":""#,
            #"",\#(date("purchase_date")),\#(date("original_purchase_date")),"is_trial_period":"false","#
                + #""in_app_ownership_type":"PURCHASED"}]}}"#,
        ]
        let length = texts.reduce(2 * 16) { $0 + $1.utf8.count }
        head = Array(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: \(length)\r\n\r\n".utf8)
        parts = texts.map { Array($0.utf8) }
    }

    /// The whole response.
    ///
    /// - Parameter number: Sixteen digits (``ReceiptNumber``).
    func response(about number: [UInt8], _ allocator: ByteBufferAllocator) -> ByteBuffer {
        var buffer = allocator.buffer(capacity: parts.reduce(head.count + 2 * 16) { $0 + $1.count })
        buffer.writeBytes(head)
        buffer.writeBytes(parts[0])
        for part in parts.dropFirst() {
            buffer.writeBytes(number)
            buffer.writeBytes(part)
        }
        return buffer
    }

    /// What the response holds.
    func body(about number: [UInt8]) -> [UInt8] { Array(parts.joined(separator: number)) }

    /// To whatever names no transaction.
    static func refusal(_ allocator: ByteBufferAllocator) -> ByteBuffer {
        let body = #"{"status":21002}"#
        return allocator.buffer(
            string: "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: \(body.utf8.count)\r\n\r\n"
                + body)
    }
}
