import Foundation
import Contract
import Testing

/// What the event tests share.
enum EventFixture {
    static let moment = Timestamp(milliseconds: 1_795_237_153_250)
    static let claimant = Claimant(
        submissionID: "order-1:1", userID: "player-1", bundleID: "com.example.game", orderID: "order-1",
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

    /// The value's members.
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
