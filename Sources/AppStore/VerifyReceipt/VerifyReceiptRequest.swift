/// The body of a verifyReceipt call.
///
/// [requestBody](https://developer.apple.com/documentation/appstorereceipts/requestbody)
struct VerifyReceiptRequest {
    /// Standard base64, ASCII: goes into the body as it is, because no character of it needs an escape.
    let base64: [UInt8]
    /// Left out where there is none.
    let secret: SharedSecret?

    /// The JSON, made by hand: a receipt may have hundreds of kilobytes, which an encoder would look at one by one.
    var body: [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(base64.count + 160)
        body += Array(#"{"receipt-data":""#.utf8)
        body += base64
        if let secret {
            body += Array(#"","password":""#.utf8)
            Self.append(escaping: secret.text, to: &body)
        }
        // Every period that was paid for counts, not just the newest.
        body += Array(#"","exclude-old-transactions":false}"#.utf8)
        return body
    }

    /// Escapes what RFC 8259 section 7 says must be.
    private static func append(escaping text: String, to body: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): body += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: body += Array(#"\u00"#.utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: body.append(byte)
            }
        }
    }
}
