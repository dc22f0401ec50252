public import Contract

/// A question for the App Store Server API. Each is a GET without a body, so asking twice changes nothing.
public enum ServerAPIRequest: Hashable, Sendable {
    /// [Get Transaction Info](https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info)
    case transaction(TransactionID)
    /// [Get Transaction History](https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history),
    /// version 2: of the customer who made the transaction, in this app, 20 at a time, latest changes at the end.
    ///
    /// - Parameter product: Of this product alone. Apple refuses a product id that it takes for none (4000023), which
    ///   counts as our fault; so it must come from our catalogue and never from a message.
    case history(TransactionID, product: ProductID?, revision: String?)

    /// Requests a second that Apple takes of an app for each of the two, enforced by the hour ([Identifying rate
    /// limits](https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits)).
    public static func requestsPerSecond(in environment: Environment) -> Double {
        environment == .production ? 50 : 5
    }

    /// The path and query, to be appended to the host. Nothing in them can lead elsewhere: an id that is not 1 to 20
    /// digits is replaced by `0`, which names no transaction, and everything else is percent-encoded.
    public var path: String {
        switch self {
        case .transaction(let id): "/inApps/v1/transactions/\(Self.digits(id))"
        case .history(let id, let product, let revision):
            "/inApps/v2/history/\(Self.digits(id))?sort=ASCENDING"
                + (product.map { "&productId=" + Self.encoded($0.rawValue) } ?? "")
                + (revision.map { "&revision=" + Self.encoded($0) } ?? "")
        }
    }

    private static func digits(_ id: TransactionID) -> String {
        id.isWellFormed ? id.rawValue : "0"
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
