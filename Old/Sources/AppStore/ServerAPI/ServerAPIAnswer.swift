import Purchases

/// The answer of Get Transaction Info.
///
/// [TransactionInfoResponse](https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse)
struct TransactionAnswer: Decodable {
    /// A compact JWS.
    let signedTransactionInfo: String

    /// Nil for what is no such answer.
    init?(json: [UInt8]) {
        guard let answer = ServerAPIReading.decoded(Self.self, json) else { return nil }
        self = answer
    }
}

/// A page of Get Transaction History.
///
/// [HistoryResponse](https://developer.apple.com/documentation/appstoreserverapi/historyresponse)
struct HistoryAnswer: Decodable {
    /// Most transactions that a page is believed to hold; Apple sends 20.
    static let maxTransactions = 1000
    /// Longest mark of a page's end, in bytes. It comes back in the query.
    static let maxRevisionBytes = 1024

    /// Compact JWSs.
    let signedTransactions: [String]
    /// Where the next page begins.
    let revision: String?
    let hasMore: Bool
    let bundleID: BundleID?
    /// As it came.
    let environment: String?
    /// The app's number in the App Store; the sandbox has none.
    let appAppleID: String?

    private enum Member: String, CodingKey {
        case signedTransactions, revision, hasMore, environment
        case bundleID = "bundleId"
        case appAppleID = "appAppleId"
    }

    /// Demands what a page is made of: read as an empty last page, anything else would say that there are no purchases.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        func text(_ member: Member) throws -> String? {
            try members.decodeIfPresent(LenientText.self, forKey: member)?.text
        }
        signedTransactions = try members.decode([String].self, forKey: .signedTransactions)
        guard let hasMore = try text(.hasMore).flatMap(LenientNumber.flag) else {
            throw DecodingError.dataCorruptedError(forKey: .hasMore, in: members, debugDescription: "no flag")
        }
        self.hasMore = hasMore
        revision = try text(.revision)
        bundleID = try text(.bundleID).map { BundleID($0) }
        environment = try text(.environment)
        appAppleID = try text(.appAppleID)
    }

    /// Nil for what is no such answer.
    init?(json: [UInt8]) {
        guard let answer = ServerAPIReading.decoded(Self.self, json),
            answer.signedTransactions.count <= Self.maxTransactions,
            answer.revision?.utf8.count ?? 0 <= Self.maxRevisionBytes
        else { return nil }
        self = answer
    }
}
