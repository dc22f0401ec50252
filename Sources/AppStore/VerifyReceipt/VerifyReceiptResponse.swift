import Contract

/// A verifyReceipt answer, read leniently: everything but the status may be missing.
///
/// [responseBody](https://developer.apple.com/documentation/appstorereceipts/responsebody)
struct VerifyReceiptResponse: Sendable {
    /// Largest body that is looked into, in bytes. A receipt of 1.5 MB of DER comes back as some 6 MB.
    static let maxBytes = AppStoreReply.maxBytes

    let status: Int
    /// `environment`, as it came.
    let environment: String?
    /// `receipt.receipt_type`, as it came.
    let receiptType: String?
    let isRetryable: Bool?
    let bundleID: BundleID?
    /// `receipt.receipt_creation_date_ms`, which is attribute 12 of the receipt that the answer is about.
    let receiptCreatedAt: Timestamp?
    /// `in_app` and `latest_receipt_info` together, one record per transaction id, the latest's word first; records
    /// without an id come last.
    let records: [AttestedRecord]

    /// Reads a body; nil if it is not a JSON object with a status, or larger than ``maxBytes``.
    ///
    /// All of it is looked at: what a body says that is damaged anywhere is worth nothing, whatever the damage.
    init?(json body: [UInt8]) {
        guard body.count <= Self.maxBytes, let answer = try? AnswerMembers(json: body),
            let status = answer.texts[.status].flatMap(LenientNumber.integer)
        else { return nil }
        self.status = status
        environment = answer.texts[.environment]
        receiptType = answer.receipt.type
        isRetryable = (answer.texts[.isRetryable] ?? answer.texts[.isRetryableHyphenated]).flatMap(LenientNumber.flag)
        bundleID = answer.receipt.bundleID.map { BundleID($0) }
        receiptCreatedAt = answer.receipt.createdAt
        records = Self.merged(
            latest: answer.latest + answer.latestExpired, older: answer.receipt.inApp + [answer.receipt.record])
    }

    private static func merged(latest: [AttestedRecord], older: [AttestedRecord]) -> [AttestedRecord] {
        var merged: [AttestedRecord] = []
        var nameless: [AttestedRecord] = []
        var places: [TransactionID: Int] = [:]
        for record in latest + older where !record.isEmpty {
            guard let id = record.transactionID else {
                nameless.append(record)
                continue
            }
            if let place = places[id] {
                merged[place] = merged[place].completed(from: record)
            } else {
                places[id] = merged.count
                merged.append(record)
            }
        }
        return merged + nameless
    }
}

/// The answer's members that count. Of one that stands twice the first counts.
private struct AnswerMembers {
    enum Member: String, CaseIterable {
        case status
        case environment
        case isRetryable = "is_retryable"
        case isRetryableHyphenated = "is-retryable"
        case receipt
        case latest = "latest_receipt_info"
        case latestExpired = "latest_expired_receipt_info"
    }

    private static let names = MemberNames<Member>()

    /// The members that are scalars.
    private(set) var texts = MemberTexts<Member>()
    private(set) var receipt = ReceiptMembers()
    private(set) var latest: [AttestedRecord] = []
    private(set) var latestExpired: [AttestedRecord] = []
    private var seen: [Member] = []

    init(json body: [UInt8]) throws(JSONUnreadable) {
        var walk = try JSONWalk(body)
        try walk.members { walk, name throws(JSONUnreadable) in
            guard let member = Self.names.member(name, in: walk), !seen.contains(member) else { return }
            seen.append(member)
            switch member {
            case .receipt: receipt = try ReceiptMembers(&walk)
            case .latest: latest = try AttestedRecord.list(&walk)
            case .latestExpired: latestExpired = try AttestedRecord.list(&walk)
            default: texts.add(try walk.lenientText(), for: member)
            }
        }
        try walk.end()
    }
}

/// The `receipt` member. Receipts in the style of iOS 6 are a single purchase, with `bid` for the bundle id.
private struct ReceiptMembers {
    enum Member: String, CaseIterable {
        case bundleID = "bundle_id"
        case bid
        case type = "receipt_type"
        case creationDateMS = "receipt_creation_date_ms"
        case inApp = "in_app"
    }

    private static let names = MemberNames<Member>()

    private var texts = MemberTexts<Member>()
    private(set) var inApp: [AttestedRecord] = []
    /// Not empty where the receipt itself is a purchase.
    private(set) var record = AttestedRecord()
    private var seen: [Member] = []

    var bundleID: String? { texts[.bundleID] ?? texts[.bid] }
    var type: String? { texts[.type] }
    var createdAt: Timestamp? {
        texts[.creationDateMS].flatMap(LenientNumber.moment).map { Timestamp(milliseconds: $0) }
    }

    init() {}

    /// Takes what it can; of a value that is no object nothing.
    init(_ walk: inout JSONWalk) throws(JSONUnreadable) {
        guard walk.kind == .object else {
            try walk.pass()
            return
        }
        try walk.members { walk, name throws(JSONUnreadable) in
            guard let member = Self.names.member(name, in: walk) else { return try record.take(name, &walk) }
            guard !seen.contains(member) else { return }
            seen.append(member)
            if member == .inApp {
                inApp = try AttestedRecord.list(&walk)
            } else {
                texts.add(try walk.lenientText(), for: member)
            }
        }
    }
}

extension AttestedRecord {
    /// An array, or a single record where an array is usual; another value is an empty list.
    fileprivate static func list(_ walk: inout JSONWalk) throws(JSONUnreadable) -> [AttestedRecord] {
        guard walk.kind == .array else {
            let record = try AttestedRecord(&walk)
            return record.isEmpty ? [] : [record]
        }
        var records: [AttestedRecord] = []
        try walk.elements { walk throws(JSONUnreadable) in records.append(try AttestedRecord(&walk)) }
        return records
    }
}
