/// An app's or account's shared secret for verifyReceipt. It does not show itself in any description or dump.
public struct SharedSecret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// For the request's body only.
    let text: String

    /// Wraps a secret as App Store Connect shows it.
    public init(_ text: String) {
        self.text = text
    }

    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The body of a verifyReceipt call.
///
/// [requestBody](https://developer.apple.com/documentation/appstorereceipts/requestbody)
struct VerifyReceiptRequest: Hashable, Sendable {
    /// Standard base64, ASCII: goes into the body as it is, because no character of it needs an escape.
    let base64: ArraySlice<UInt8>
    /// Left out where there is none.
    let secret: SharedSecret?

    /// The JSON, in parts that follow each other; the receipt's text is one of them, and no copy.
    ///
    /// Made by hand: a receipt may have hundreds of kilobytes, which an encoder would look at one by one.
    var bodyParts: [ArraySlice<UInt8>] {
        guard let secret else { return [Self.beginning, base64, Self.end] }
        var password = Array(#"","password":""#.utf8)
        Self.append(escaping: secret.text, to: &password)
        return [Self.beginning, base64, password[...], Self.end]
    }

    private static let beginning = Array(#"{"receipt-data":""#.utf8)[...]
    /// Every period that was paid for counts, not just the newest.
    private static let end = Array(#"","exclude-old-transactions":false}"#.utf8)[...]

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
