import Purchases

/// An element of `pending_renewal_info`: whether a subscription goes on. All of its values are texts.
struct PendingRenewal: Encodable, Sendable {
    /// Every simulated subscription is of one group.
    static let group = "20000001"

    private let newest: SimulatedPurchase
    private let now: Timestamp

    /// - Parameter newest: The subscription's last period.
    init(_ newest: SimulatedPurchase, now: Timestamp) {
        self.newest = newest
        self.now = now
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        let goesOn = newest.cancelledAt == nil && newest.expiresAt.map { $0 > now } ?? true
        try members.encode(newest.productID.rawValue, forKey: "product_id")
        try members.encode(newest.productID.rawValue, forKey: "auto_renew_product_id")
        try members.encode(newest.originalTransactionID.rawValue, forKey: "original_transaction_id")
        try members.encode(goesOn ? "1" : "0", forKey: "auto_renew_status")
        guard !goesOn else { return }
        // 1: the customer ended it.
        try members.encode("1", forKey: "expiration_intent")
        try members.encode("0", forKey: "is_in_billing_retry_period")
    }
}

/// A member's name, written as Apple spells it.
struct Key: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringLiteral value: String) {
        stringValue = value
    }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        nil
    }
}

extension KeyedEncodingContainer<Key> {
    /// Encodes a moment as Apple does: `name` in GMT, `name_ms`, and `name_pst` in Cupertino's time.
    mutating func encode(_ moment: Timestamp, forDate name: String) throws {
        let time = CivilTime(moment)
        try encode(time.gmt, forKey: Key(stringValue: name))
        try encode(time.milliseconds, forKey: Key(stringValue: name + "_ms"))
        try encode(time.pst, forKey: Key(stringValue: name + "_pst"))
    }
}
