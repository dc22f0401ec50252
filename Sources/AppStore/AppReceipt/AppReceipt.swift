public import Contract

/// An App Store receipt as its sender presents it: read, **not** authenticated.
///
/// Nothing in it may be granted on its own. It is good for refusing early what the sender's own evidence speaks against,
/// and for telling a damaged receipt from one that Apple cannot read at the moment.
///
/// Attributes are read leniently: one that is missing, empty or of another form is nil. Meaning and types of the
/// attributes: [Validating receipts on the device](https://developer.apple.com/documentation/appstorereceipts/validating_receipts_on_the_device).
public struct AppReceipt: Hashable, Sendable {
    /// Largest receipt that is looked into, in bytes of DER. The largest genuine ones seen have some 300 KB.
    public static let maxBytes = 4 << 20

    /// Attribute 0: who made the receipt.
    public let origin: ReceiptOrigin?
    /// Attribute 2: the app it belongs to.
    public let bundleID: BundleID?
    /// Attribute 3: `CFBundleVersion` of the app that asked for it.
    public let appVersion: String?
    /// Attribute 19: the version that was bought first.
    public let originalAppVersion: String?
    /// Attribute 12: when it was made; its certificates are to be valid then.
    public let createdAt: Timestamp?
    /// Attribute 18: when the app was bought first.
    public let originallyPurchasedAt: Timestamp?
    /// Attribute 21: volume purchases only, and the year 4001 from Xcode.
    public let expiresAt: Timestamp?
    /// The envelope's parts as they came, for whoever checks the signature.
    public let signedData: SignedData
    /// The values of attribute 17, as they came.
    let purchaseSets: [ArraySlice<UInt8>]

    /// Reads a receipt from base64 in any of the forms that ``ReceiptText`` takes.
    public static func parse(base64: String) throws(AppReceiptError) -> AppReceipt {
        try AppReceipt(der: ReceiptText(base64).bytes)
    }

    /// Reads a receipt from its bytes: PKCS#7 in DER, or in BER with indefinite lengths, as Xcode writes it.
    public init(der bytes: [UInt8]) throws(AppReceiptError) {
        guard bytes.count <= Self.maxBytes else { throw .tooLarge }
        guard !bytes.isEmpty else { throw .empty }
        signedData = try SignedData(ber: bytes)
        let attributes = try ReceiptAttributes(receiptPayload: signedData.payload)
        origin = attributes.text(0).map(ReceiptOrigin.init)
        bundleID = attributes.text(2).map { BundleID($0) }
        appVersion = attributes.text(3)
        createdAt = attributes.moment(12)
        purchaseSets = attributes.values(17)
        originallyPurchasedAt = attributes.moment(18)
        originalAppVersion = attributes.text(19)
        expiresAt = attributes.moment(21)
    }

    /// The in-app purchases, in the receipt's order, which means nothing. Read anew at every call; sets that cannot be
    /// read at all are left out.
    public var purchases: [ReceiptPurchase] { purchaseSets.compactMap(ReceiptPurchase.init) }

    /// The transaction of the first in-app purchase, without reading the rest of it.
    var firstTransactionID: TransactionID? {
        purchaseSets.first.flatMap(ReceiptAttributes.init(set:))?.text(ReceiptPurchase.transactionIDType)
            .map { TransactionID($0) }
    }
}

/// Who made a receipt, by its attribute 0.
public enum ReceiptOrigin: Hashable, Sendable {
    /// The App Store, or volume purchase.
    case production
    /// Apple's test environment: TestFlight, App Review, developers.
    case sandbox
    /// StoreKit testing in Xcode: signed on a developer's machine, not by Apple.
    case xcode
    /// A text this version does not know.
    case other(String)

    init(_ text: String) {
        self =
            switch text {
            case "Production", "ProductionVPP": .production
            case "ProductionSandbox", "ProductionVPPSandbox", "Sandbox": .sandbox
            case "Xcode", "LocalTesting": .xcode
            default: .other(text)
            }
    }
}
