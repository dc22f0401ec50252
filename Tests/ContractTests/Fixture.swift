import Contract
import Foundation
import MemberTesting
import Testing

/// Values that tests of this module share.
enum Fixture {
    static let moment = Timestamp(milliseconds: 1_795_237_153_250)
    static let origin = Origin(topic: "receipts.submitted", partition: 3, offset: 7)
    static let claimant = Claimant(
        submissionID: "order-1:1", userID: "player-1", bundleID: "com.example.game", orderID: "order-1",
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

    static func submission(
        claimant: Claimant = claimant, claim: Claim = Claim.nothing, evidence: Evidence = .receipt(base64: "AAAA")
    ) -> Submission {
        Submission(claimant: claimant, claim: claim, evidence: evidence, origin: origin, receivedAt: moment)
    }

    static func purchase(
        _ id: TransactionID, original: TransactionID? = nil, lineItem: String? = nil,
        environment: Environment = .production
    ) -> Purchase {
        .sample(
            id, original: original, lineItem: lineItem, environment: environment,
            at: Timestamp(milliseconds: 1_790_000_000_000))
    }

    static func members(of event: Event) throws -> [String: Any] {
        let value = try #require(event.value)
        return try #require(JSONSerialization.jsonObject(with: Data(value)) as? [String: Any])
    }

    /// The headers' texts, by name; each must be there once.
    static func headers(of event: Event) throws -> [String: String] {
        let pairs = try event.headers.map { ($0.name, String(decoding: try #require($0.value), as: UTF8.self)) }
        let headers = Dictionary(pairs) { first, _ in first }
        try #require(headers.count == pairs.count)
        return headers
    }

    static func text(_ event: Event) -> String { String(decoding: event.value ?? [], as: UTF8.self) }
}
