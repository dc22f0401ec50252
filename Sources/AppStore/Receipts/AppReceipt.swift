public import Contract

/// An App Store receipt as its sender presents it: read, **not** authenticated.
///
/// Nothing in it may be granted on its own. It allows to refuse claims early that the sender's own evidence
/// contradicts. It also distinguishes a damaged receipt from one that Apple cannot read at the moment.
///
/// Attributes are read leniently: one that is missing, empty or of another form is nil. Their meaning and types:
/// [Validating receipts on the
/// device](https://developer.apple.com/documentation/appstorereceipts/validating_receipts_on_the_device)
public struct AppReceipt: Hashable, Sendable {
    /// Attribute 0: who made the receipt.
    public let origin: ReceiptOrigin?
    /// Attribute 2: the app it belongs to.
    public let bundleID: BundleID?
    /// Attribute 12: when it was made; its certificates are to be valid then.
    public let createdAt: Timestamp?
    /// The envelope's parts as they came, by which the signature is checked.
    public let signedData: SignedData
    /// The values of attribute 17, as they came.
    let purchaseSets: [ArraySlice<UInt8>]

    /// Reads a receipt from base64 in any of the forms that ``ReceiptText`` takes.
    /// - Throws: as ``ReceiptText/init(_:)`` for the text, and as ``init(der:)`` for its bytes.
    public static func parse(base64: EvidenceText) throws(AppReceiptError) -> AppReceipt {
        try read(base64).receipt
    }

    /// Reads a receipt together with the text that Apple takes of it.
    ///
    /// A text that is none, or of no receipt, is read once more as ``ReceiptText/spellings(of:)`` have it. That reading
    /// counts if its result has a receipt's form, which no other text has by chance.
    static func read(_ base64: EvidenceText) throws(AppReceiptError) -> (text: ReceiptText, receipt: AppReceipt) {
        do throws(AppReceiptError) {
            let text = try ReceiptText(base64)
            return (text, try AppReceipt(der: text.bytes))
        } catch {
            for spelling in ReceiptText.spellings(of: base64) {
                if let text = try? ReceiptText(spelling), let receipt = try? AppReceipt(der: text.bytes) {
                    return (text, receipt)
                }
            }
            throw error
        }
    }

    /// Reads a receipt from its bytes: PKCS#7 in DER, or in BER with indefinite lengths, as Xcode writes it.
    /// - Throws: `tooLarge`, `empty`, `notASN1`, `notSignedData`, `notReceiptAttributes`.
    public init(der bytes: [UInt8]) throws(AppReceiptError) {
        guard bytes.count <= ReceiptText.maxBytes else { throw .tooLarge }
        guard !bytes.isEmpty else { throw .empty }
        signedData = try SignedData(ber: bytes)
        let attributes = try ReceiptAttributes(receiptPayload: signedData.payload)
        origin = attributes.text(0).map(ReceiptOrigin.init)
        bundleID = attributes.text(2).map { BundleID($0) }
        createdAt = attributes.moment(12)
        purchaseSets = attributes.values(17)
    }

    /// The in-app purchases, in the receipt's order, which means nothing. Read anew at every call; sets that cannot be
    /// read at all are left out.
    public var purchases: [ReceiptPurchase] { purchaseSets.compactMap(ReceiptPurchase.init) }
}

/// The maker of a receipt, by its attribute 0.
public enum ReceiptOrigin: Hashable, Sendable {
    /// The App Store, or volume purchase.
    case production
    /// Apple's test environment: TestFlight, App Review, developers.
    case sandbox
    /// StoreKit testing in Xcode: signed on a developer's machine, not by Apple.
    case xcode
    case other(String)

    init(_ text: String) {
        self =
            switch text {
            case "Production", "ProductionVPP": .production
            case "ProductionSandbox", "ProductionVPPSandbox", "Sandbox": .sandbox
            case _ where AppleCodes.localEnvironments.contains(text): .xcode
            default: .other(text)
            }
    }

    /// The environment of its purchases; nil where Apple has none of that name, so that both are asked. Each counts
    /// its transactions by itself, so another customer's purchase may have the same id in the other one.
    var environment: Environment? {
        switch self {
        case .production: .production
        case .sandbox: .sandbox
        case .xcode, .other: nil
        }
    }
}

extension AppReceipt {
    /// Why the sender's own evidence rules out a submission to an app; nil if it does not.
    ///
    /// The receipt is unauthenticated, but a forger gains nothing from a contradiction. So no call is needed.
    public func contradiction(with app: App) -> Rejection? {
        if let bundleID, bundleID != app.bundleID {
            return Rejection(.bundleMismatch, "The receipt belongs to another app.")
        }
        if origin == .xcode {
            return Rejection(.environmentNotAllowed, "The receipt was made by StoreKit testing in Xcode, not by Apple.")
        }
        return nil
    }
}

/// A set of attributes, `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`, in its order.
struct ReceiptAttributes {
    /// Longest text that an attribute may hold, in bytes; a longer one counts as absent.
    static let maxTextBytes = 1024

    /// Room for what most sets have: some 25 of a receipt and 20 of a purchase.
    private static let usualCount = 32

    /// A value in the form of an attribute. Its value is a range of the set's bytes, so that no reference is counted
    /// for the many that are never read.
    struct Attribute {
        let type: Int
        let value: BERValue.Octets
    }

    let bytes: ArraySlice<UInt8>
    let list: [Attribute]

    init(receiptPayload payload: ArraySlice<UInt8>) throws(AppReceiptError) {
        guard let value = BERValue(payload.span) else { throw .notReceiptAttributes }
        // Xcode wraps the set into one more OCTET STRING.
        let wrapped = value.octets(in: payload)
        guard let attributes = wrapped.flatMap(Self.init(set:)) ?? Self(value, in: payload) else {
            throw .notReceiptAttributes
        }
        self = attributes
    }

    /// Reads a nested set; nil if it is none.
    init?(set bytes: ArraySlice<UInt8>) {
        guard let value = BERValue(bytes.span) else { return nil }
        self.init(value, in: bytes)
    }

    /// Members of another form are left out.
    private init?(_ value: BERValue, in bytes: ArraySlice<UInt8>) {
        let span = bytes.span
        guard var members = value.members(BERValue.set) else { return nil }
        var list: [Attribute] = []
        list.reserveCapacity(Self.usualCount)
        while let member = members.next(in: span) {
            guard var parts = member.members(BERValue.sequence), let type = parts.next(in: span)?.integer(in: span),
                parts.next(in: span) != nil, let value = parts.last(in: span)?.octets(in: span)
            else { continue }
            list.append(Attribute(type: type, value: value))
        }
        self.bytes = bytes
        self.list = list
    }

    /// The values of every attribute of a type.
    func values(_ type: Int) -> [ArraySlice<UInt8>] {
        list.lazy.filter { $0.type == type }.map { $0.value.bytes(in: bytes) }
    }

    /// A text; nil when it is absent, empty, too long or not UTF-8.
    func text(_ type: Int) -> String? {
        withFirst(type) { tag, bytes in
            guard Self.textTags.contains(tag), !bytes.isEmpty, bytes.count <= Self.maxTextBytes,
                let text = try? UTF8Span(validating: bytes)
            else { return nil }
            return String(copying: text)
        }
    }

    /// A date and time; nil when it is absent, not RFC 3339, or empty, as a cancellation date is on a purchase that
    /// stands.
    func moment(_ type: Int) -> Timestamp? {
        withFirst(type) { tag, bytes in Self.textTags.contains(tag) ? Timestamp(rfc3339: bytes) : nil }
    }

    /// The same of something that happened to a purchase; nil when the App Store was not open yet.
    func purchaseMoment(_ type: Int) -> Timestamp? { moment(type).flatMap { $0.mayBeOfPurchase ? $0 : nil } }

    /// An integer; nil when it is absent or not one of 64 bits.
    func integer(_ type: Int) -> Int64? {
        withFirst(type) { tag, bytes in tag == BERValue.integer ? BERValue.number(bytes) : nil }
    }

    /// Whether an attribute is there and says something: one that does and cannot be read must not count as absent.
    func holdsValue(_ type: Int) -> Bool {
        guard let isEmpty = withValue(type, { $0.isEmpty }), !isEmpty else { return false }
        return withFirst(type) { _, bytes in bytes.isEmpty } != true
    }

    /// Looks at the primitive value of the first attribute of a type; Apple's receipts have each once. Nil when it is
    /// absent or anything else.
    private func withFirst<Result>(_ type: Int, _ body: (UInt8, Span<UInt8>) -> Result?) -> Result? {
        withValue(type) { value in
            guard let header = BERHeader(value, at: 0, before: value.count), !header.isConstructed,
                header.end == value.count
            else { return nil }
            return body(header.identifier, value.extracting(header.contents...))
        }
    }

    /// Looks at the value of the first attribute of a type; nil when it is absent.
    private func withValue<Result>(_ type: Int, _ body: (Span<UInt8>) -> Result?) -> Result? {
        guard let place = list.firstIndex(where: { $0.type == type }) else { return nil }
        switch list[place].value {
        case .whole(let place): return body(bytes.span.extracting(place))
        case .pieces: return body(list[place].value.bytes(in: bytes).span)
        }
    }

    /// UTF8String and IA5String.
    private static let textTags: [UInt8] = [0x0c, 0x16]
}

/// One in-app purchase of a receipt, read leniently and not authenticated.
public struct ReceiptPurchase: Hashable, Sendable {
    /// Attribute 1701.
    public let quantity: Int64?
    /// Attribute 1702.
    public let productID: ProductID?
    /// Attribute 1703.
    public let transactionID: TransactionID?
    /// Attribute 1704.
    public let purchasedAt: Timestamp?
    /// Attribute 1705; Xcode writes none.
    public let originalTransactionID: TransactionID?
    /// Attribute 1708; auto-renewable subscriptions only.
    public let expiresAt: Timestamp?
    /// Attribute 1711; auto-renewable subscriptions only, 0 elsewhere.
    public let webOrderLineItemID: String?
    /// Attribute 1712. It is present and empty while the purchase stands, which is nil here.
    public let revokedAt: Timestamp?
    /// Attributes 1713 and 1719: a free trial, or another introductory offer; auto-renewable subscriptions only.
    public let offer: Offer?

    /// Whether a quantity, an end, an order line or a cancellation is there that cannot be read: a grant depends on
    /// each.
    let hasUnreadablePart: Bool

    static let transactionIDType = 1703

    /// Whether its own id is the device's, because it was restored. Periods of subscriptions have ids of their own.
    var hasDeviceID: Bool {
        guard let originalTransactionID, originalTransactionID.isWellFormed else { return false }
        return originalTransactionID != transactionID && webOrderLineItemID == nil && expiresAt == nil
    }

    /// Reads the value of an attribute 17; nil if it is no set of attributes.
    init?(_ value: ArraySlice<UInt8>) {
        guard let attributes = ReceiptAttributes(set: value) else { return nil }
        quantity = attributes.integer(1701)
        productID = attributes.text(1702).map { ProductID($0) }
        transactionID = attributes.text(Self.transactionIDType).map { TransactionID(reading: $0) }
        purchasedAt = attributes.purchaseMoment(1704)
        originalTransactionID = attributes.text(1705).map { TransactionID(reading: $0) }
        expiresAt = attributes.purchaseMoment(1708)
        webOrderLineItemID = attributes.integer(1711).flatMap { $0 == 0 ? nil : String($0) }
        revokedAt = attributes.purchaseMoment(1712)
        hasUnreadablePart =
            [1708, 1712].contains { attributes.holdsValue($0) && attributes.purchaseMoment($0) == nil }
            || [1701, 1711].contains { attributes.holdsValue($0) && attributes.integer($0) == nil }
        offer =
            if attributes.integer(1713) == 1 {
                Offer(kind: .trial, discountType: .freeTrial)
            } else if attributes.integer(1719) == 1 {
                Offer(kind: .introductory, discountType: nil)
            } else {
                nil
            }
    }

    /// The purchase, if the entry has everything that a grant needs in a form this version knows; nil otherwise.
    ///
    /// A receipt has no product type (attribute 1707 is not documented), and does not say who in a family owns it.
    func purchase(in environment: Environment) -> Purchase? {
        guard let transactionID, transactionID.isWellFormed, let originalTransactionID,
            originalTransactionID.isWellFormed, let productID, let purchasedAt, !hasUnreadablePart
        else { return nil }
        return Purchase(
            transactionID: transactionID, originalTransactionID: originalTransactionID,
            webOrderLineItemID: webOrderLineItemID, productID: productID, quantity: quantity.map(Int.init) ?? 1,
            environment: environment, purchasedAt: purchasedAt, expiresAt: expiresAt, revokedAt: revokedAt,
            isUpgraded: false, ownership: .purchased, appAccountToken: nil, type: nil, payment: nil,
            offer: offer)
    }
}
