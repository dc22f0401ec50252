import Contract
import Testing

@testable import Fulfilment

@Suite("A fulfilment call")
struct FulfilmentCallTests {
    private let now = Timestamp(milliseconds: 1_795_000_000_999)
    private let service = FulfilmentService(
        url: "https://inventory.example.com/grants", secrets: [SigningSecret("0123456789abcdef")],
        timeout: .seconds(5), mostCalls: 50, caFile: nil)

    private func grant(traceparent: String? = nil) -> Grant {
        Grant(
            key: GrantKey(environment: .production, name: "t:2000000123456789"),
            transactionID: "2000000123456789", originalTransactionID: "2000000123456789", webOrderLineItemID: nil,
            product: Product(
                id: "com.example.gems", type: .consumable, items: [Item(item: "gems", quantity: 100)]),
            quantity: 1, purchasedAt: Timestamp(milliseconds: 500), expiresAt: nil, ownership: .purchased, payment: nil,
            offer: nil, verifiedBy: "signedTransaction",
            claimant: Claimant(
                submissionID: "s 1", userID: "player", bundleID: "com.example.game", orderID: nil,
                traceparent: traceparent),
            origin: Origin(topic: "receipts.submitted", partition: 0, offset: 1),
            receivedAt: Timestamp(milliseconds: 1000), grantedAt: Timestamp(milliseconds: 2000), attempts: 1,
            format: .v1, passedOver: nil)
    }

    @Test("has the granted event's bytes for its body, and the event's id for its key")
    func event() {
        let event = GrantedEvent.event(of: grant())
        let call = FulfilmentCall(grant(), to: service, at: now)
        #expect(call.body == event.value)
        #expect(call.key == event.id)
        #expect(call.headers.first == .init(name: "Idempotency-Key", value: event.id.rawValue))
    }

    @Test("has the event's attributes as CloudEvents puts them into headers of HTTP")
    func attributes() {
        let call = FulfilmentCall(grant(traceparent: "00-ab-cd-01"), to: service, at: now)
        #expect(
            call.headers.map(\.name) == [
                "Idempotency-Key", "ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time",
                "content-type", "traceparent", "Grantor-Signature",
            ])
        #expect(call.headers.contains(.init(name: "ce-type", value: "com.grantor.purchase.granted.v1")))
        #expect(call.headers.contains(.init(name: "traceparent", value: "00-ab-cd-01")))
    }

    @Test("escapes what a header cannot have", arguments: [("a b", "a%20b"), ("\"%", "%22%25"), ("ü\n", "%C3%BC%0A")])
    func escaped(value: String, header: String) {
        #expect(FulfilmentCall.encoded(Array(value.utf8)) == header)
    }

    @Test("is signed as the page for authors of services has it")
    func signature() {
        #expect(
            FulfilmentCall.signature(
                of: Array(#"{"grantId":"g"}"#.utf8), at: now, by: [SigningSecret("0123456789abcdef")])
                == "t=1795000000,v1=5c2d6076acad252039fa657e94ea003e1ea0c796a9dad24f01121b1286e3f2e7")
    }

    @Test("is signed with both secrets while they are changed, and shows neither")
    func rotation() {
        let secrets = [SigningSecret("canary-canary-1"), SigningSecret("canary-canary-2")]
        let both = FulfilmentCall.signature(of: [1], at: now, by: secrets)
        let single = secrets.map { FulfilmentCall.signature(of: [1], at: now, by: [$0]) }
        #expect(both == "\(single[0])\(single[1].drop { $0 != "," })")
        #expect(!"\(secrets) \(both)".contains("canary"))
    }

    @Test("differs from the next call about its grant in the signature alone")
    func again() {
        let first = FulfilmentCall(grant(), to: service, at: now)
        let second = FulfilmentCall(grant(), to: service, at: now.advanced(by: .seconds(60)))
        #expect(first.body == second.body && first.headers.dropLast() == second.headers.dropLast())
        #expect(first.headers.last != second.headers.last)
    }
}
