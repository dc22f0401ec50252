import Contract

/// A verifyReceipt reply, read leniently: everything but the status may be missing.
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
    /// `receipt.receipt_creation_date_ms`, which is attribute 12 of the receipt that the reply is about.
    let receiptCreatedAt: Timestamp?
    /// `in_app` and `latest_receipt_info` together, one record per transaction id, the latest's word first; records
    /// without an id come last.
    let records: [AttestedRecord]

    /// Reads a body; nil if it is not a JSON object with a status, or larger than ``maxBytes``.
    ///
    /// The whole body is checked. A body that is damaged anywhere is no reply.
    init?(json body: [UInt8]) {
        guard body.count <= Self.maxBytes, let reply = try? ReplyMembers(json: body),
            let status = reply.texts[.status].flatMap(LenientNumber.integer)
        else { return nil }
        self.status = status
        environment = reply.texts[.environment]
        receiptType = reply.receipt.type
        isRetryable = (reply.texts[.isRetryable] ?? reply.texts[.isRetryableHyphenated]).flatMap(LenientNumber.flag)
        bundleID = reply.receipt.bundleID.map { BundleID($0) }
        receiptCreatedAt = reply.receipt.createdAt
        records = Self.merged(
            latest: reply.latest + reply.latestExpired, older: reply.receipt.inApp + [reply.receipt.record])
    }

    private static func merged(latest: [AttestedRecord], older: [AttestedRecord]) -> [AttestedRecord] {
        var merged: [AttestedRecord] = []
        var nameless: [AttestedRecord] = []
        var places: [TransactionID: Int] = [:]
        for (index, record) in (latest + older).enumerated() where !record.isEmpty {
            guard let id = record.transactionID else {
                nameless.append(record)
                continue
            }
            if let place = places[id] {
                let isOlder = index >= latest.count && merged[place].isLatest
                merged[place] = merged[place].completed(from: record, isOlder: isOlder)
            } else {
                places[id] = merged.count
                merged.append(record)
                merged[merged.count - 1].isLatest = index < latest.count
            }
        }
        return merged + nameless
    }
}

/// The reply's members that are read. If a member stands twice, the first counts.
private struct ReplyMembers {
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

    /// Takes the members that it can read; nothing of a value that is no object.
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

/// A transaction as verifyReceipt spells it, every member optional.
///
/// [in_app](https://developer.apple.com/documentation/appstorereceipts/responsebody/receipt/in_app),
/// [latest_receipt_info](https://developer.apple.com/documentation/appstorereceipts/responsebody/latest_receipt_info)
struct AttestedRecord: Sendable {
    enum Member: String, CaseIterable {
        case quantity
        case productID = "product_id"
        case transactionID = "transaction_id"
        case originalTransactionID = "original_transaction_id"
        case webOrderLineItemID = "web_order_line_item_id"
        case purchaseDateMS = "purchase_date_ms"
        case expiresDate = "expires_date"
        case expiresDateMS = "expires_date_ms"
        case cancellationDate = "cancellation_date"
        case cancellationDateMS = "cancellation_date_ms"
        case cancellationDatePST = "cancellation_date_pst"
        case cancellationReason = "cancellation_reason"
        case isUpgraded = "is_upgraded"
        case ownership = "in_app_ownership_type"
        case appAccountToken = "app_account_token"
        case isTrial = "is_trial_period"
        case isIntroductory = "is_in_intro_offer_period"
        case promotionalOfferID = "promotional_offer_id"
        case offerCodeName = "offer_code_ref_name"
    }

    private var texts = MemberTexts<Member>()
    /// Whether it is of the reply's latest list, and not only as the receipt had it.
    fileprivate(set) var isLatest = false
    /// Whether one record says that the purchase was cancelled, and another record, as new or newer, does not.
    private(set) var isCancellationInDoubt = false

    private static let names = MemberNames<Member>()

    private static let cancellation: [Member] = [
        .cancellationDate, .cancellationDateMS, .cancellationDatePST, .cancellationReason,
    ]

    /// Longest line item that is one. Apple's have up to 20 digits.
    private static let maxLineItemBytes = 64

    init() {}

    /// Takes the members that it can read; a value that is no object gives an empty record.
    init(_ walk: inout JSONWalk) throws(JSONUnreadable) {
        guard walk.kind == .object else {
            try walk.pass()
            return
        }
        // At once, and not as it grows: a reply may have thousands of records.
        texts.reserveCapacity(Member.allCases.count)
        try walk.members { walk, name throws(JSONUnreadable) in try take(name, &walk) }
    }

    /// Takes a member if it is one that is read. If a member stands twice, the first with a value counts.
    mutating func take(_ name: JSONWalk.Name, _ walk: inout JSONWalk) throws(JSONUnreadable) {
        guard let member = Self.names.member(name, in: walk), texts[member] == nil,
            let text = try walk.lenientText(), !text.isEmpty
        else { return }
        let isID = member == .transactionID || member == .originalTransactionID
        texts.add(isID ? TransactionID(reading: text).rawValue : text, for: member)
    }

    var isEmpty: Bool { texts.isEmpty }
    var transactionID: TransactionID? { texts[.transactionID].map { TransactionID($0) } }
    var originalTransactionID: TransactionID? { texts[.originalTransactionID].map { TransactionID($0) } }
    var productID: ProductID? { texts[.productID].map { ProductID($0) } }

    /// Whether it is a transaction, or goes back to it.
    func names(_ transaction: TransactionID) -> Bool {
        // As ids, which are compared byte by byte.
        transactionID == transaction || originalTransactionID == transaction
    }

    /// Whether any member says so.
    private var isCancelled: Bool { Self.cancellation.contains { texts[$0] != nil } }

    /// This record, completed from another record of the same transaction.
    ///
    /// The cancelled record of two counts, so that no refunded purchase is granted. A receipt's own list is as old as
    /// the receipt, so a cancellation that it lacks came later. Any other difference is a contradiction. A reversed
    /// refund looks like one: the latest list lacks it, and a receipt that was made meanwhile has it for ever.
    /// - Parameter isOlder: Whether the other record is from the receipt, and this one is not.
    func completed(from other: AttestedRecord, isOlder: Bool) -> AttestedRecord {
        var merged = self
        let isLater = isOlder && isCancelled
        merged.isCancellationInDoubt = isCancellationInDoubt || (isCancelled != other.isCancelled && !isLater)
        merged.texts.complete(from: other.texts)
        return merged
    }

    /// The purchase, if the record has everything that a grant needs in a form this version knows; nil otherwise.
    func purchase(in environment: Environment) -> Purchase? {
        // A part of the grant key, which has to fit into the ledger's indexes.
        guard texts[.webOrderLineItemID]?.utf8.count ?? 0 <= Self.maxLineItemBytes,
            let transactionID = identifier(.transactionID),
            let originalTransactionID = identifier(.originalTransactionID), let productID,
            let purchasedAt = moment(.purchaseDateMS, or: nil).known,
            let quantity = texts[.quantity].map(LenientNumber.integer) ?? 1,
            let isUpgraded = texts[.isUpgraded].map(LenientNumber.flag) ?? false, let ownership
        else { return nil }
        let expiry = moment(.expiresDateMS, or: .expiresDate)
        let cancellation = moment(.cancellationDateMS, or: .cancellationDate)
        // A date that is there and cannot be read must not count as absent: the purchase may be over or refunded.
        guard expiry != .unreadable, cancellation.known != nil || !isCancelled else { return nil }
        return Purchase(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            webOrderLineItemID: texts[.webOrderLineItemID].flatMap(DigitText.withoutLeadingZeros), productID: productID,
            quantity: quantity, environment: environment, purchasedAt: purchasedAt, expiresAt: expiry.known,
            revokedAt: cancellation.known, isUpgraded: isUpgraded, ownership: ownership,
            appAccountToken: texts[.appAccountToken].flatMap(Claim.accountToken), type: nil, payment: nil, offer: offer)
    }

    /// An offer in another form counts as none, so that it cannot lose a purchase.
    private var offer: Offer? {
        if texts[.offerCodeName] != nil { return Offer(kind: .offerCode, discountType: nil) }
        if texts[.promotionalOfferID] != nil { return Offer(kind: .promotional, discountType: nil) }
        if texts[.isTrial].flatMap(LenientNumber.flag) == true { return Offer(kind: .trial, discountType: .freeTrial) }
        return texts[.isIntroductory].flatMap(LenientNumber.flag) == true
            ? Offer(kind: .introductory, discountType: nil) : nil
    }

    private enum Moment: Hashable {
        case absent
        case unreadable
        case at(Timestamp)

        var known: Timestamp? {
            guard case .at(let moment) = self else { return nil }
            return moment
        }
    }

    /// Reads a date from its `_ms` member. iOS 6 style receipts have milliseconds in the plain member.
    private func moment(_ milliseconds: Member, or plain: Member?) -> Moment {
        let first = texts[milliseconds]
        let second = plain.flatMap { texts[$0] }
        guard first != nil || second != nil else { return .absent }
        return (first.flatMap(LenientNumber.purchaseMoment) ?? second.flatMap(LenientNumber.purchaseMoment))
            .map { .at($0) } ?? .unreadable
    }

    /// Nil for a text that is no id of Apple's.
    private func identifier(_ member: Member) -> TransactionID? {
        texts[member].map { TransactionID($0) }.flatMap { $0.isWellFormed ? $0 : nil }
    }

    /// Nil for an ownership this version does not know.
    private var ownership: Ownership? {
        guard let name = texts[.ownership] else { return .purchased }
        return AppleCodes.ownerships[name]
    }
}
