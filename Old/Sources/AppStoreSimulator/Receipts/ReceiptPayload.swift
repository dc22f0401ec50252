import Crypto
import Purchases
import SwiftASN1

/// A receipt's payload: the SET of attributes that Apple signs, each `SEQUENCE { type, version, OCTET STRING value }`.
enum ReceiptPayload {
    /// Writes the attributes of a receipt. The same specification gives the same bytes.
    ///
    /// - Parameter size: Bytes to reach by noise in an undocumented attribute, met to within 8; nil for as few as it gets.
    static func bytes(of receipt: ReceiptSpecification, fillingTo size: Int?) throws -> [UInt8] {
        let noise = Noise(seed: "\(receipt.bundleID)|\(receipt.purchases.first?.transactionID.rawValue ?? "")")
        var attributes = DER.Serializer()
        try append(receipt, noise: noise, to: &attributes)
        let content = attributes.serializedBytes
        let padding = (size ?? 0) - content.count - paddingOverhead
        let type: [UInt8] = [0x02, 0x01, UInt8(ReceiptAttribute.padding), 0x02, 0x01, 0x01]
        let value = noise.bytes(max(32, padding))
        let valueHeader = DER.header(.octetString, length: value.count)
        let attributeLength = type.count + valueHeader.count + value.count
        let attributeHeader = DER.header(.sequence, length: attributeLength)
        let length = content.count + attributeHeader.count + attributeLength
        return DER.header(.set, length: length) + content + attributeHeader + type + valueHeader + value
    }

    /// Bytes around the noise: three headers of four bytes each, the attribute's type and version.
    private static let paddingOverhead = 18

    private static func append(
        _ receipt: ReceiptSpecification, noise: Noise, to set: inout DER.Serializer
    ) throws {
        try set.appendText(ReceiptAttribute.receiptType, receipt.environment.receiptType)
        try set.appendInteger(ReceiptAttribute.appAppleID, receipt.environment == .production ? 1_234_567_890 : 0)
        try set.appendText(ReceiptAttribute.bundleID, receipt.bundleID.rawValue)
        try set.appendText(ReceiptAttribute.applicationVersion, "1")
        try set.appendOctets(ReceiptAttribute.opaqueValue, noise.bytes(16))
        try set.appendOctets(ReceiptAttribute.digest, noise.digest)
        try set.appendOctets(ReceiptAttribute.encrypted, noise.bytes(64))
        try set.appendMoment(ReceiptAttribute.emptyText, nil)
        for type in ReceiptAttribute.fillers { try set.appendInteger(type, type) }
        try set.appendMoment(ReceiptAttribute.creationDate, receipt.creationDate)
        try set.appendMoment(ReceiptAttribute.originalPurchaseDate, originalPurchaseDate)
        try set.appendText(ReceiptAttribute.originalApplicationVersion, "1.0")
        if receipt.environment == .xcode {
            try set.appendMoment(ReceiptAttribute.expirationDate, xcodeExpirationDate)
        }
        for purchase in receipt.purchases {
            let isLater = purchase.placement == .latestReceiptInfo
            try set.appendAttribute(isLater ? ReceiptAttribute.laterPurchase : ReceiptAttribute.purchase) {
                try append(purchase, to: &$0)
            }
        }
    }

    private static func append(_ purchase: SimulatedPurchase, to value: inout DER.Serializer) throws {
        try value.appendConstructedNode(identifier: .set) { set in
            try set.appendInteger(PurchaseAttribute.quantity, purchase.quantity)
            try set.appendText(PurchaseAttribute.productID, purchase.productID.rawValue)
            try set.appendText(PurchaseAttribute.transactionID, purchase.transactionID.rawValue)
            try set.appendMoment(PurchaseAttribute.purchaseDate, purchase.purchasedAt)
            try set.appendText(PurchaseAttribute.originalTransactionID, purchase.originalTransactionID.rawValue)
            try set.appendMoment(PurchaseAttribute.originalPurchaseDate, purchase.originalPurchasedAt)
            try set.appendInteger(PurchaseAttribute.kind, purchase.kind.receiptValue)
            try set.appendMoment(PurchaseAttribute.expiresDate, purchase.expiresAt)
            try set.appendInteger(PurchaseAttribute.webOrderLineItemID, purchase.webOrderLineItemID ?? 0)
            // Present and empty unless it was cancelled, as in Apple's receipts.
            try set.appendMoment(PurchaseAttribute.cancellationDate, purchase.cancelledAt)
            try set.appendInteger(PurchaseAttribute.isTrial, 0)
            try set.appendInteger(PurchaseAttribute.isIntroductoryOffer, 0)
            for type in PurchaseAttribute.fillers { try set.appendInteger(type, 0) }
            if purchase.ownership != .purchased {
                try set.appendText(PurchaseAttribute.ownership, purchase.ownership.rawValue)
            }
            if let token = purchase.appAccountToken { try set.appendText(PurchaseAttribute.appAccountToken, token) }
            if let reason = purchase.cancellationReason {
                try set.appendText(PurchaseAttribute.cancellationReason, reason)
            }
            if purchase.isUpgraded { try set.appendInteger(PurchaseAttribute.isUpgraded, 1) }
            if purchase.placement == .both { try set.appendInteger(PurchaseAttribute.inBothLists, 1) }
        }
    }

    /// The date Apple's sandbox gives for every app.
    static let originalPurchaseDate = Timestamp(milliseconds: 1_375_340_400_000)
    /// 4001-01-01, which is what Xcode writes.
    private static let xcodeExpirationDate = Timestamp(milliseconds: 64_092_211_200_000)
}

/// Bytes that look random and follow from a text.
private struct Noise {
    let digest: [UInt8]

    init(seed: String) {
        digest = Array(Insecure.SHA1.hash(data: Array(seed.utf8)))
    }

    /// A cut from one block for all receipts, begun where the digest says: drawing each byte anew would take longer than
    /// signing.
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
