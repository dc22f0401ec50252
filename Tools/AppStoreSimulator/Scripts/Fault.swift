/// Something that goes wrong with one call, instead of its answer.
///
/// In JSON a fault is an object with its name and its parameters: `{"status": {"code": 21005}}`, `{"reset": {}}`.
public enum Fault: Hashable, Sendable, Codable {
    /// How Apple's flag is spelled; both have been seen.
    public enum Spelling: String, Hashable, Sendable, Codable {
        case underscore
        case hyphen

        var key: String {
            switch self {
            case .underscore: "is_retryable"
            case .hyphen: "is-retryable"
            }
        }
    }

    /// The answer, so much later.
    case delay(milliseconds: Int)
    /// Of verifyReceipt: HTTP 200 with a status and no receipt, as Apple sends 21009. The flag is there only if it is
    /// given.
    case status(code: Int, isRetryable: Bool? = nil, spelling: Spelling? = nil)
    /// The answer without any purchase, as Apple sends it when a receipt was not refreshed yet. Of the App Store Server
    /// API: as if the transaction did not exist yet, or the history were empty.
    case withoutPurchases
    /// An error of the App Store Server API by its `errorCode`, whose first three digits are the HTTP status.
    case apiError(code: Int)
    /// An HTTP status with a short plain text.
    case http(code: Int)
    /// HTTP 429 with a `Retry-After` header, its value as given: seconds, or milliseconds since 1970 as Apple has it.
    case rateLimited(retryAfter: String)
    /// HTTP 302 to an address.
    case redirect(location: String)
    /// HTTP 200 with a page for people, as in the outage of 2020-01-24.
    case html
    /// HTTP 200 with half of the answer, properly framed.
    case truncated
    /// HTTP 200 and the answer's headers, but the connection closes after half of the answer.
    case cutOff
    /// HTTP 200 with no body.
    case empty
    /// HTTP 200 with so many bytes of JSON; at most ``oversizedLimit``.
    case oversized(bytes: Int)
    /// The answer in pieces of so many bytes, so far apart.
    case drip(bytes: Int, everyMilliseconds: Int)
    /// The connection is reset (TCP RST) once the request was read.
    case reset
    /// The connection closes once the request was read.
    case close
    /// Nothing, until the client gives up or ``hangLimit`` has passed.
    case hang

    /// Bytes that ``oversized(bytes:)`` sends at most.
    public static let oversizedLimit = 64 << 20
    /// How long ``hang`` keeps a connection.
    public static let hangLimit = Duration.seconds(600)

    /// The fault's name in JSON and in statistics.
    public var name: String {
        switch self {
        case .delay: "delay"
        case .status: "status"
        case .withoutPurchases: "withoutPurchases"
        case .apiError: "apiError"
        case .http: "http"
        case .rateLimited: "rateLimited"
        case .redirect: "redirect"
        case .html: "html"
        case .truncated: "truncated"
        case .cutOff: "cutOff"
        case .empty: "empty"
        case .oversized: "oversized"
        case .drip: "drip"
        case .reset: "reset"
        case .close: "close"
        case .hang: "hang"
        }
    }

    /// Whether the real answer does not reach the client in any part.
    var hidesAnswer: Bool {
        switch self {
        case .delay, .withoutPurchases, .truncated, .cutOff, .drip: false
        case .status, .apiError, .http, .rateLimited, .redirect, .html, .empty, .oversized, .reset, .close, .hang: true
        }
    }
}
