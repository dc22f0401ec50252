public import Contract

/// A question for the App Store Server API. Each is a GET without a body, so asking twice changes nothing.
public enum ServerAPIRequest: Hashable, Sendable {
    /// [Get Transaction Info](https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info)
    case transaction(TransactionID)
    /// [Get Transaction History](https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history),
    /// version 2: of the customer who made the transaction, in this app, 20 at a time, the latest changes first. So
    /// purchases that are claimed now are read, however long the history is.
    /// - Parameter product: Of this product alone. Apple refuses a product id that it takes for none (4000023), which
    ///   counts as our fault. So it must come from our catalogue and never from a submission.
    case history(TransactionID, product: ProductID?, revision: String?)

    /// The path and query, to be appended to the host. They cannot lead to another path: an id that is not 1 to 20
    /// digits is replaced by `0`, which names no transaction. Everything else is percent-encoded.
    public var path: String {
        switch self {
        case .transaction(let id): "/inApps/v1/transactions/\(Self.digits(id))"
        case .history(let id, let product, let revision):
            "/inApps/v2/history/\(Self.digits(id))?sort=DESCENDING"
                + (product.map { "&productId=" + Self.encoded($0.rawValue) } ?? "")
                + (revision.map { "&revision=" + Self.encoded($0) } ?? "")
        }
    }

    private static func digits(_ id: TransactionID) -> String { id.isWellFormed ? id.rawValue : "0" }

    /// Everything but the unreserved characters of RFC 3986, section 2.3.
    private static func encoded(_ text: String) -> String {
        PercentEncoding.text(of: text.utf8, where: unreserved.contains)
    }

    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
}

/// The reply of Get Transaction Info.
///
/// [TransactionInfoResponse](https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse)
struct TransactionReply: Sendable {
    /// A compact JWS.
    let signedTransactionInfo: EvidenceText

    /// Nil for bytes that are no such reply.
    init?(json: [UInt8]) {
        guard let signed = members(of: json)?.bytes(of: "signedTransactionInfo") else { return nil }
        signedTransactionInfo = EvidenceText(signed)
    }
}

/// A page of Get Transaction History.
///
/// [HistoryResponse](https://developer.apple.com/documentation/appstoreserverapi/historyresponse)
struct HistoryReply: Sendable {
    /// Most transactions that a page is believed to hold; Apple sends 20.
    static let maxTransactions = 1000
    /// Longest mark of a page's end, in bytes. It comes back in the query.
    static let maxRevisionBytes = 1024

    /// Compact JWSs.
    let signedTransactions: [EvidenceText]
    let revision: String?
    let hasMore: Bool
    let bundleID: BundleID?
    /// As it came.
    let environment: String?

    /// Nil for bytes that are no such reply. Demands the members of a page. Anything else, read as an empty last page,
    /// would say that there are no purchases.
    init?(json: [UInt8]) {
        guard let members = members(of: json),
            let transactions = members.texts(of: "signedTransactions", most: Self.maxTransactions),
            let hasMore = members.lenientText("hasMore").flatMap(LenientNumber.flag)
        else { return nil }
        revision = members.lenientText("revision")
        guard revision?.utf8.count ?? 0 <= Self.maxRevisionBytes else { return nil }
        signedTransactions = transactions.map { EvidenceText($0) }
        self.hasMore = hasMore
        bundleID = members.lenientText("bundleId").map { BundleID($0) }
        environment = members.lenientText("environment")
    }
}

/// A reply of the App Store Server API that holds no transaction.
struct ServerAPIRefusal: Hashable, Sendable {
    let httpStatus: Int
    /// `errorCode`, where there is one.
    let code: Int?

    /// Reads a reply other than HTTP 200. 401 has a text for a body, and intermediaries reply in HTML.
    init(httpStatus: Int, body: [UInt8]) {
        self.httpStatus = httpStatus
        code = members(of: body)?.lenientText("errorCode").flatMap(LenientNumber.integer)
    }

    var meaning: AppleCodes.ErrorMeaning { AppleCodes.meaning(ofError: code, httpStatus: httpStatus) }

    /// For details: `error 4040010`, or the HTTP status.
    var said: String { code.map { "error \($0)" } ?? "HTTP status \(httpStatus)" }
}

/// Largest reply of the App Store Server API that is looked into, in bytes. A page of 20 transactions has some 120 KB.
private let maxReplyBytes = 1 << 20

/// Nil for bytes that are no whole JSON object, or more than are looked into.
private func members(of json: [UInt8]) -> StrictJSON.Members? {
    json.count <= maxReplyBytes ? (try? StrictJSON(json))?.members : nil
}

/// Whether Apple accepts an app's key for the App Store Server API, by its reply about a transaction that does not
/// exist.
///
/// Only a reply that Apple gives after checking the key counts as acceptance. A proxy's error and Apple's reply for
/// an unknown app have the same HTTP statuses.
public enum ServerAPIKeyCheck: Hashable, Sendable {
    /// Apple knows no such transaction, and says so to owners of the right key.
    case accepted
    /// HTTP 401, which production says to the keys of apps that were never released, too.
    case refused
    case other(httpStatus: Int, code: Int?)
    case failed(TransportFailure)

    /// The call to make; nil if the app has no key, or nothing can be signed with it.
    public static func call(_ rules: AppRules, in environment: Environment, at now: Timestamp) -> AppleCall? {
        guard let endpoint = rules.serverAPI(environment), let token = rules.mint?.token(now: now) else { return nil }
        let path = ServerAPIRequest.transaction("0").path
        return AppleCall(endpoint: endpoint, isFresh: false, content: .serverAPI(path: path, token))
    }

    /// Reads the end of the call.
    public init(_ reply: AppStoreReply) {
        switch reply {
        case .failed(let failure): self = .failed(failure)
        case .response(200, _, _): self = .other(httpStatus: 200, code: nil)
        case .response(let status, _, let body):
            let refusal = ServerAPIRefusal(httpStatus: status, body: body)
            switch refusal.meaning {
            case .notFound, .idRefused: self = .accepted
            case .tokenRefused: self = .refused
            case .accountNotFound, .retry, .rateLimited, .restartPaging, .credentialsRefused, .requestRefused, .unknown:
                self = .other(httpStatus: status, code: refusal.code)
            }
        }
    }
}
