import Contract

/// The answer of Get Transaction Info.
///
/// [TransactionInfoResponse](https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse)
struct TransactionAnswer: Sendable {
    private enum Member: String, CaseIterable, Sendable {
        case signedTransactionInfo
    }

    private static let names = MemberNames<Member>()

    /// A compact JWS.
    let signedTransactionInfo: EvidenceText

    /// Nil for bytes that are no such answer.
    init?(json: [UInt8]) {
        var signed: String?
        let isWhole = readMembers(of: json) { walk, name throws(JSONUnreadable) in
            guard Self.names.member(name, in: walk) != nil, signed == nil else { return }
            if case .string(let text) = try walk.scalar() { signed = text }
        }
        guard isWhole, let signed else { return nil }
        signedTransactionInfo = EvidenceText(signed)
    }
}

/// A page of Get Transaction History.
///
/// [HistoryResponse](https://developer.apple.com/documentation/appstoreserverapi/historyresponse)
struct HistoryAnswer: Sendable {
    /// Most transactions that a page is believed to hold; Apple sends 20.
    static let maxTransactions = 1000
    /// Longest mark of a page's end, in bytes. It comes back in the query.
    static let maxRevisionBytes = 1024

    private enum Member: String, CaseIterable, Sendable {
        case signedTransactions, revision, hasMore, environment
        case bundleID = "bundleId"
    }

    private static let names = MemberNames<Member>()

    /// Compact JWSs.
    let signedTransactions: [EvidenceText]
    /// Where the next page begins.
    let revision: String?
    let hasMore: Bool
    let bundleID: BundleID?
    /// As it came.
    let environment: String?

    /// Nil for bytes that are no such answer. Demands what a page is made of: read as an empty last page, anything else
    /// would say that there are no purchases.
    init?(json: [UInt8]) {
        var transactions: [EvidenceText]?
        var texts = MemberTexts<Member>()
        let isWhole = readMembers(of: json) { walk, name throws(JSONUnreadable) in
            guard let member = Self.names.member(name, in: walk) else { return }
            guard member == .signedTransactions else { return texts.add(try walk.lenientText(), for: member) }
            guard transactions == nil, walk.kind == .array else { return }
            var list: [EvidenceText] = []
            try walk.elements { walk throws(JSONUnreadable) in
                guard case .string(let text) = try walk.scalar(), list.count < Self.maxTransactions else {
                    throw JSONUnreadable(reason: "no list of signed transactions")
                }
                list.append(EvidenceText(text))
            }
            transactions = list
        }
        guard isWhole, let transactions, let hasMore = texts[.hasMore].flatMap(LenientNumber.flag),
            texts[.revision]?.utf8.count ?? 0 <= Self.maxRevisionBytes
        else { return nil }
        signedTransactions = transactions
        self.hasMore = hasMore
        revision = texts[.revision]
        bundleID = texts[.bundleID].map { BundleID($0) }
        environment = texts[.environment]
    }
}

/// An answer of the App Store Server API that holds no transaction.
struct ServerAPIRefusal: Hashable, Sendable {
    private enum Member: String, CaseIterable, Sendable {
        case errorCode
    }

    private static let names = MemberNames<Member>()

    let httpStatus: Int
    /// `errorCode`, where there is one.
    let code: Int?
    /// When Apple wants to be asked again.
    let notBefore: Timestamp?

    /// Reads an answer other than HTTP 200. 401 has a text for a body, and what stands between us and Apple answers in
    /// HTML.
    init(httpStatus: Int, body: [UInt8], notBefore: Timestamp?) {
        var code: Int?
        let isWhole = readMembers(of: body) { walk, name throws(JSONUnreadable) in
            guard Self.names.member(name, in: walk) != nil, code == nil else { return }
            code = try walk.lenientText().flatMap(LenientNumber.integer)
        }
        self.httpStatus = httpStatus
        self.code = isWhole ? code : nil
        self.notBefore = notBefore
    }

    var meaning: AppleCodes.ErrorMeaning { AppleCodes.meaning(ofError: code, httpStatus: httpStatus) }

    /// For details: `error 4040010`, or the HTTP status.
    var said: String { code.map { "error \($0)" } ?? "HTTP status \(httpStatus)" }
}

/// Largest answer of the App Store Server API that is looked into, in bytes. A page of 20 transactions has some 120 KB.
private let maxAnswerBytes = 1 << 20

/// Walks through the members of an object.
///
/// - Returns: no if the bytes are no whole JSON object, or larger than is looked into: then nothing that was visited
///   counts.
private func readMembers(
    of json: [UInt8], _ visit: (inout JSONWalk, JSONWalk.Name) throws(JSONUnreadable) -> Void
) -> Bool {
    guard json.count <= maxAnswerBytes else { return false }
    do throws(JSONUnreadable) {
        var walk = try JSONWalk(json)
        try walk.members(visit)
        try walk.end()
        return true
    } catch {
        return false
    }
}
