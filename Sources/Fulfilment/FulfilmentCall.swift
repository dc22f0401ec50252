public import Contract
import Cryptography

/// A call about a grant to an inventory service: the grant's event, signed (docs/fulfilment.md).
///
/// Its content never changes. Only the signature differs, which has the time of the call.
public struct FulfilmentCall: Hashable, Sendable {
    public static let keyHeader = "Idempotency-Key"
    static let signatureHeader = "Grantor-Signature"

    public struct Header: Hashable, Sendable {
        public let name: String
        public let value: String
    }

    /// The event's id. The service applies a grant once for each key, and may send the key back.
    public let key: EventID
    public let headers: [Header]
    /// The value of the grant's event, byte for byte as on its topic.
    public let body: [UInt8]

    /// - Parameter now: When it is signed.
    public init(_ grant: Grant, to service: FulfilmentService, at now: Timestamp) {
        let event = GrantedEvent.event(of: grant)
        key = event.id
        body = event.value ?? []
        var headers = [Header(name: Self.keyHeader, value: key.rawValue)]
        // CloudEvents 1.0 over HTTP, binary mode: an attribute such as `ce_id` on Kafka is `ce-id` here.
        headers += event.headers.map { header in
            let name = header.name.hasPrefix("ce_") ? "ce-" + header.name.dropFirst(3) : header.name
            return Header(name: name, value: Self.encoded(header.value ?? []))
        }
        headers.append(
            Header(name: Self.signatureHeader, value: Self.signature(of: body, at: now, by: service.secrets)))
        self.headers = headers
    }

    /// `t=<seconds since 1970>,v1=<digits>`, with a `v1` for each secret: HMAC-SHA256 over the seconds, a full stop and
    /// the body.
    static func signature(of body: [UInt8], at now: Timestamp, by secrets: [SigningSecret]) -> String {
        let seconds = now.milliseconds / 1000
        let content = Array("\(seconds).".utf8) + body
        return "t=\(seconds)" + secrets.map { ",v1=\(HMACSHA256(key: $0.text.utf8).code(of: content).hex)" }.joined()
    }

    /// A value as CloudEvents puts it into a header. Everything but printable ASCII is percent-encoded, and so are
    /// blank, quotation mark and percent sign ([HTTP binding,
    /// 3.1.3.2](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md)).
    static func encoded(_ value: [UInt8]) -> String {
        PercentEncoding.text(of: value) { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "%")
        }
    }
}
