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
    /// The envelope's parts as they came, by which the signature is checked.
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
}

/// The maker of a receipt, by its attribute 0.
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

extension AppReceipt {
    /// Why the sender's own evidence rules out a submission to an app; nil if it does not.
    ///
    /// The receipt is unauthenticated, but nobody gains by speaking against himself, so this costs Apple no call.
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

/// Why evidence is not an App Store receipt. The same bytes give the same error for ever, so the submission that
/// carries them is to be rejected; asking Apple or trying again cannot help.
public enum AppReceiptError: Error, Hashable, Sendable, CaseIterable {
    /// More than ``AppReceipt/maxBytes``; not looked into.
    case tooLarge
    /// Nothing but white space.
    case empty
    /// A character that no base64 alphabet has, padding in the middle, or a length that base64 cannot have.
    case notBase64
    /// Not one complete ASN.1 value: garbage, truncated, nested too deep, of too many values, or followed by
    /// more bytes.
    case notASN1
    /// ASN.1, but not a PKCS#7 signed-data envelope.
    case notSignedData
    /// A PKCS#7 envelope around something that is not a receipt's set of attributes.
    case notReceiptAttributes

    /// One sentence for people.
    public var detail: String {
        switch self {
        case .tooLarge: "The receipt is larger than a receipt can be."
        case .empty: "The receipt is empty."
        case .notBase64: "The receipt is not base64."
        case .notASN1: "The receipt is truncated or no ASN.1 data."
        case .notSignedData: "The receipt is not a PKCS#7 signed-data container."
        case .notReceiptAttributes: "The container holds no receipt attributes."
        }
    }
}
