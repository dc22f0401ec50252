public import HTTPTransport
import Ledger
public import Purchases

/// One fulfilment call: tells an inventory service of a grant.
public struct DeliveryRequest: Sendable {
    static let idempotencyHeader = "Idempotency-Key"

    public let bundleID: BundleID
    /// The same for each call about a grant: the service applies it once.
    public let grantID: GrantID
    public let url: String
    public let headers: [HTTPHeader]
    /// The granted event's bytes.
    public let body: [UInt8]
    public let timeout: Duration

    /// The call for a delivery, signed now.
    ///
    /// The event's attributes are headers as CloudEvents 1.0 has them over HTTP in binary mode.
    init(_ delivery: Delivery, to service: InventoryService, now: Timestamp) {
        bundleID = delivery.bundleID
        grantID = delivery.grantID
        url = service.url
        body = delivery.event.value ?? []
        timeout = service.timeout
        headers =
            [HTTPHeader(name: Self.idempotencyHeader, value: delivery.grantID.rawValue)]
            + delivery.event.headers.map { header in
                HTTPHeader(
                    name: header.name.hasPrefix("ce_") ? "ce-" + header.name.dropFirst(3) : header.name,
                    value: Self.encoded(header.value ?? []))
            }
            + [
                HTTPHeader(
                    name: DeliverySignature.header,
                    value: DeliverySignature.value(of: body, at: now, by: service.secrets))
            ]
    }

    /// A value as [CloudEvents](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md)
    /// puts it into a header: what is not printable ASCII, and blank, quotation mark and percent sign, percent-encoded.
    private static func encoded(_ value: [UInt8]) -> String {
        var text = ""
        for byte in value {
            let isPlain = (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "%")
            if isPlain {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += byte < 0x10 ? "%0" + digits : "%" + digits
            }
        }
        return text
    }
}
