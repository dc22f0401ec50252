public import Purchases

/// A question for the App Store Server API. Each is a GET without a body, so asking twice changes nothing.
public enum ServerAPIRequest: Hashable, Sendable {
    /// [Get Transaction Info](https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info)
    case transaction(TransactionID)
    /// [Get Transaction History](https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history),
    /// version 2: of the customer who made the transaction, in this app, 20 at a time, what changed last at the end.
    ///
    /// - Parameter product: of this product alone. Apple refuses a product id that it takes for none (4000023), which
    ///   counts as our fault; so it must come from our catalogue and never from a message.
    case history(TransactionID, product: ProductID?, revision: String?)
    /// [Get All Subscription Statuses](https://developer.apple.com/documentation/appstoreserverapi/get-all-subscription-statuses)
    case subscriptionStatuses(TransactionID)

    /// What Apple counts requests by.
    public enum Endpoint: String, Hashable, Sendable, CaseIterable {
        case transaction, history, subscriptionStatuses

        /// Requests a second that Apple takes of an app in production, enforced by the hour; the sandbox takes a tenth
        /// ([Identifying rate limits](https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits)).
        public func requestsPerSecond(in environment: Environment) -> Double {
            environment == .production ? 50 : 5
        }
    }

    /// The endpoint that it goes to.
    public var endpoint: Endpoint {
        switch self {
        case .transaction: .transaction
        case .history: .history
        case .subscriptionStatuses: .subscriptionStatuses
        }
    }

    /// The path and query, to be appended to the host. Nothing in them can lead elsewhere: an id that is not 1 to 20
    /// digits is replaced by `0`, which names no transaction, and everything else is percent-encoded.
    public var path: String {
        switch self {
        case .transaction(let id): "/inApps/v1/transactions/\(Self.digits(id))"
        case .subscriptionStatuses(let id): "/inApps/v1/subscriptions/\(Self.digits(id))"
        case .history(let id, let product, let revision):
            "/inApps/v2/history/\(Self.digits(id))?sort=ASCENDING"
                + (product.map { "&productId=" + Self.encoded($0.rawValue) } ?? "")
                + (revision.map { "&revision=" + Self.encoded($0) } ?? "")
        }
    }

    /// Whether a text is an id that Apple may be asked for.
    public static func isTransactionID(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func digits(_ id: TransactionID) -> String {
        isTransactionID(id.rawValue) ? id.rawValue : "0"
    }

    /// Everything but the unreserved characters of RFC 3986, section 2.3.
    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if unreserved.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let unreserved = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
}
