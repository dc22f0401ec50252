import HTTPTransport
import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("A fulfilment call")
struct DeliveryRequestTests {
    private let event = Event(
        id: "0b7d9a52-0000-5000-8000-000000000002", kind: .granted, key: Array("u".utf8),
        headers: [
            EventHeader("ce_specversion", "1.0"), EventHeader("ce_id", "0b7d9a52-0000-5000-8000-000000000002"),
            EventHeader("ce_subject", "a \"b\" 50% ü"), EventHeader("content-type", "application/json"),
            EventHeader("traceparent", "00-aa-bb-01"),
        ], value: Array(#"{"grantId":"g"}"#.utf8))

    private func request(_ secrets: [String]) -> DeliveryRequest {
        DeliveryRequest(
            Delivery(bundleID: "com.example.game", grantID: "0b7d9a52-0000-5000-8000-000000000001", event: event),
            to: InventoryService(
                url: "https://inventory.example.com/grants", secrets: secrets.map { SigningSecret($0) }),
            now: Timestamp(milliseconds: 1_795_000_000_999))
    }

    private func header(_ request: DeliveryRequest, _ name: String) -> String? {
        request.headers.first { $0.name == name }?.value
    }

    @Test("carries the event's bytes, its attributes as headers, and the grant as its key")
    func content() {
        let request = request(["0123456789abcdef"])
        #expect(request.body == event.value)
        #expect(header(request, "Idempotency-Key") == "0b7d9a52-0000-5000-8000-000000000001")
        #expect(header(request, "ce-id") == event.id.rawValue)
        #expect(header(request, "ce-specversion") == "1.0")
        #expect(header(request, "content-type") == "application/json")
        #expect(header(request, "traceparent") == "00-aa-bb-01")
        #expect(header(request, "ce-subject") == "a%20%22b%22%2050%25%20%C3%BC")
        #expect(!request.headers.contains { $0.name.contains("_") })
        #expect(request.timeout == .seconds(5))
    }

    /// `printf '1795000000.{"grantId":"g"}' | openssl dgst -sha256 -hmac 0123456789abcdef`
    @Test("is signed by HMAC-SHA256 over time and body")
    func signature() {
        #expect(
            header(request(["0123456789abcdef"]), "Grantor-Signature")
                == "t=1795000000,v1=5c2d6076acad252039fa657e94ea003e1ea0c796a9dad24f01121b1286e3f2e7")
    }

    @Test("is signed by both secrets while they are rotated, the first one's signature first")
    func rotation() {
        #expect(
            header(request(["0123456789abcdef", "fedcba9876543210"]), "Grantor-Signature")
                == "t=1795000000,v1=5c2d6076acad252039fa657e94ea003e1ea0c796a9dad24f01121b1286e3f2e7,v1=05a5e43c300e4f7c3c44ae80a0065fec6a39da764fb34b4d42a134095e211c3f"
        )
    }

    @Test("never shows a secret")
    func secrecy() {
        let service = InventoryService(url: "https://x", secrets: [SigningSecret("canary-of-a-secret")])
        #expect(!"\(service)".contains("canary"))
        #expect(!String(reflecting: service).contains("canary"))
        var dumped = ""
        dump(service, to: &dumped)
        #expect(!dumped.contains("canary"))
    }
}
