internal import CertificateMaking
internal import Contract
internal import Cryptography
internal import Scheduling

/// A receipt's payload: the SET of attributes that Apple signs, each `SEQUENCE { type, version, OCTET STRING value }`.
enum ReceiptPayload {
    /// Writes the attributes of a receipt. The same specification gives the same bytes.
    ///
    /// - Parameter size: Bytes to reach by noise in an undocumented attribute, met to within 8; nil for the fewest.
    static func bytes(of receipt: ReceiptSpecification, fillingTo size: Int?) -> [UInt8] {
        let noise = Noise(seed: "\(receipt.bundleID)|\(receipt.purchases.first?.transactionID.rawValue ?? "")")
        let parts = attributes(of: receipt, noise: noise)
        let count = parts.reduce(0) { $0 + $1.count }
        let padding = noise.bytes(max(32, (size ?? 0) - count - paddingOverhead))
        return DER.set(parts + [attribute(ReceiptAttribute.padding, padding)])
    }

    /// Bytes around the noise: three headers of four bytes each, the attribute's type and version.
    private static let paddingOverhead = 18

    private static func attributes(of receipt: ReceiptSpecification, noise: Noise) -> [[UInt8]] {
        var parts: [[UInt8]] = [
            text(ReceiptAttribute.receiptType, receipt.environment.receiptType),
            integer(ReceiptAttribute.appAppleID, receipt.environment == .production ? 1_234_567_890 : 0),
            text(ReceiptAttribute.bundleID, receipt.bundleID.rawValue),
            text(ReceiptAttribute.applicationVersion, "1"),
            attribute(ReceiptAttribute.opaqueValue, noise.bytes(16)),
            attribute(ReceiptAttribute.digest, noise.digest),
            attribute(ReceiptAttribute.encrypted, noise.bytes(64)),
            moment(ReceiptAttribute.emptyText, nil),
        ]
        for type in ReceiptAttribute.fillers { parts.append(integer(type, Int64(type))) }
        parts.append(moment(ReceiptAttribute.creationDate, receipt.creationDate))
        parts.append(moment(ReceiptAttribute.originalPurchaseDate, originalPurchaseDate))
        parts.append(text(ReceiptAttribute.originalApplicationVersion, "1.0"))
        if receipt.environment == .xcode {
            parts.append(moment(ReceiptAttribute.expirationDate, xcodeExpirationDate))
        }
        for purchase in receipt.purchases {
            let isLater = purchase.placement == .latestReceiptInfo
            let type = isLater ? ReceiptAttribute.laterPurchase : ReceiptAttribute.purchase
            parts.append(attribute(type, DER.set(attributes(of: purchase))))
        }
        return parts
    }

    private static func attributes(of purchase: SimulatedPurchase) -> [[UInt8]] {
        var parts: [[UInt8]] = [
            integer(PurchaseAttribute.quantity, Int64(purchase.quantity)),
            text(PurchaseAttribute.productID, purchase.productID.rawValue),
            text(PurchaseAttribute.transactionID, purchase.transactionID.rawValue),
            moment(PurchaseAttribute.purchaseDate, purchase.purchasedAt),
            text(PurchaseAttribute.originalTransactionID, purchase.originalTransactionID.rawValue),
            moment(PurchaseAttribute.originalPurchaseDate, purchase.originalPurchasedAt),
            integer(PurchaseAttribute.kind, purchase.kind.receiptValue),
            moment(PurchaseAttribute.expiresDate, purchase.expiresAt),
            integer(PurchaseAttribute.webOrderLineItemID, purchase.webOrderLineItemID ?? 0),
            // Present and empty unless it was cancelled, as in Apple's receipts.
            moment(PurchaseAttribute.cancellationDate, purchase.cancelledAt),
            integer(PurchaseAttribute.isTrial, 0),
            integer(PurchaseAttribute.isIntroductoryOffer, 0),
        ]
        for type in PurchaseAttribute.fillers { parts.append(integer(type, 0)) }
        if purchase.ownership != .purchased {
            parts.append(text(PurchaseAttribute.ownership, purchase.ownership.rawValue))
        }
        if let token = purchase.appAccountToken { parts.append(text(PurchaseAttribute.appAccountToken, token)) }
        if let reason = purchase.cancellationReason {
            parts.append(text(PurchaseAttribute.cancellationReason, reason))
        }
        if purchase.isUpgraded { parts.append(integer(PurchaseAttribute.isUpgraded, 1)) }
        if purchase.placement == .both { parts.append(integer(PurchaseAttribute.inBothLists, 1)) }
        return parts
    }

    /// The date Apple's sandbox gives for every app.
    static let originalPurchaseDate = Timestamp(milliseconds: 1_375_340_400_000)
    /// 4001-01-01, as Xcode writes it.
    private static let xcodeExpirationDate = Timestamp(milliseconds: 64_092_211_200_000)

    private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        DER.sequence(DER.integer(Int64(type)), DER.integer(1), DER.octetString(value))
    }

    private static func text(_ type: Int, _ text: String) -> [UInt8] { attribute(type, DER.utf8String(text)) }

    private static func integer(_ type: Int, _ number: Int64) -> [UInt8] { attribute(type, DER.integer(number)) }

    /// A date as RFC 3339 text without a fraction; an empty text for none.
    private static func moment(_ type: Int, _ moment: Timestamp?) -> [UInt8] {
        attribute(type, DER.ia5String(moment.map { AppleDates($0).rfc3339 } ?? ""))
    }
}

/// Bytes that look random and follow from a text.
private struct Noise {
    let digest: [UInt8]

    init(seed: String) {
        digest = SHA1.hash(seed.utf8)
    }

    /// A piece of one block for all receipts, from an offset by the digest. Drawing each byte anew would take longer
    /// than signing.
    func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var start = Int(digest[0]) << 8 | Int(digest[1])
        while bytes.count < count {
            bytes.append(contentsOf: Self.block[start...].prefix(count - bytes.count))
            start = 0
        }
        return bytes
    }

    private static let block: [UInt8] = {
        var generator = SplitMix64(seed: 0)
        return (0..<0x10000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }()
}
