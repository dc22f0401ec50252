import Purchases
import SwiftASN1

extension ReceiptPayload {
    /// Why bytes are not a receipt's payload.
    enum ReadingError: Error {
        case notAttributes
        case missing(attribute: Int)
        case malformed(attribute: Int)
    }

    /// Reads back what ``bytes(of:fillingTo:)`` wrote; ``ReceiptSpecification/targetSize`` is nil.
    static func receipt(from payload: ArraySlice<UInt8>) throws -> ReceiptSpecification {
        let attributes = try attributes(in: payload)
        guard let type = try attributes.text(ReceiptAttribute.receiptType),
            let environment = ReceiptEnvironment(receiptType: type)
        else { throw ReadingError.missing(attribute: ReceiptAttribute.receiptType) }
        guard let bundleID = try attributes.text(ReceiptAttribute.bundleID) else {
            throw ReadingError.missing(attribute: ReceiptAttribute.bundleID)
        }
        guard let creationDate = try attributes.moment(ReceiptAttribute.creationDate) else {
            throw ReadingError.missing(attribute: ReceiptAttribute.creationDate)
        }
        let purchases = try attributes.list.compactMap { attribute throws -> SimulatedPurchase? in
            switch attribute.type {
            case ReceiptAttribute.purchase: try purchase(from: attribute.value, isLater: false)
            case ReceiptAttribute.laterPurchase: try purchase(from: attribute.value, isLater: true)
            default: nil
            }
        }
        return ReceiptSpecification(
            bundleID: BundleID(bundleID), environment: environment, purchases: purchases, creationDate: creationDate)
    }

    private static func purchase(from value: ArraySlice<UInt8>, isLater: Bool) throws -> SimulatedPurchase {
        let attributes = try attributes(in: value)
        guard let transactionID = try attributes.text(PurchaseAttribute.transactionID) else {
            throw ReadingError.missing(attribute: PurchaseAttribute.transactionID)
        }
        guard let productID = try attributes.text(PurchaseAttribute.productID) else {
            throw ReadingError.missing(attribute: PurchaseAttribute.productID)
        }
        guard let purchasedAt = try attributes.moment(PurchaseAttribute.purchaseDate) else {
            throw ReadingError.missing(attribute: PurchaseAttribute.purchaseDate)
        }
        let lineItem: Int64? = try attributes.integer(PurchaseAttribute.webOrderLineItemID)
        let isUpgraded: Int? = try attributes.integer(PurchaseAttribute.isUpgraded)
        let inBothLists: Int? = try attributes.integer(PurchaseAttribute.inBothLists)
        return SimulatedPurchase(
            transactionID: TransactionID(transactionID),
            originalTransactionID: try attributes.text(PurchaseAttribute.originalTransactionID).map { .init($0) },
            productID: ProductID(productID),
            kind: try attributes.integer(PurchaseAttribute.kind).flatMap(ProductType.init(receiptValue:))
                ?? .consumable,
            quantity: try attributes.integer(PurchaseAttribute.quantity) ?? 1, purchasedAt: purchasedAt,
            originalPurchasedAt: try attributes.moment(PurchaseAttribute.originalPurchaseDate),
            expiresAt: try attributes.moment(PurchaseAttribute.expiresDate),
            cancelledAt: try attributes.moment(PurchaseAttribute.cancellationDate),
            cancellationReason: try attributes.text(PurchaseAttribute.cancellationReason),
            webOrderLineItemID: lineItem == 0 ? nil : lineItem,
            ownership: try attributes.text(PurchaseAttribute.ownership).flatMap(Ownership.init) ?? .purchased,
            appAccountToken: try attributes.text(PurchaseAttribute.appAccountToken), isUpgraded: isUpgraded == 1,
            placement: isLater ? .latestReceiptInfo : inBothLists == 1 ? .both : .inApp)
    }

    private static func attributes(in bytes: ArraySlice<UInt8>) throws -> Attributes {
        let set = try BER.parse(bytes)
        guard set.identifier == .set, case .constructed(let members) = set.content else {
            throw ReadingError.notAttributes
        }
        return Attributes(
            list: try members.map { member in
                guard case .constructed(let parts) = member.content else { throw ReadingError.notAttributes }
                var iterator = parts.makeIterator()
                guard let type = iterator.next(), iterator.next() != nil, let value = iterator.next(),
                    value.identifier == .octetString, case .primitive(let octets) = value.content
                else { throw ReadingError.notAttributes }
                return try (Int(derEncoded: type), octets)
            })
    }
}

/// The attributes of a SET, in its order.
private struct Attributes {
    let list: [(type: Int, value: ArraySlice<UInt8>)]

    /// Nil when it is absent or an empty text.
    func text(_ type: Int) throws -> String? {
        guard let bytes = try primitive(type), !bytes.isEmpty else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Nil when it is absent or an empty text.
    func moment(_ type: Int) throws -> Timestamp? {
        guard let bytes = try primitive(type), !bytes.isEmpty else { return nil }
        guard let time = CivilTime(rfc3339: bytes) else { throw ReceiptPayload.ReadingError.malformed(attribute: type) }
        return time.timestamp
    }

    func integer<Number: FixedWidthInteger & DERImplicitlyTaggable>(_ type: Int) throws -> Number? {
        guard let value = first(type) else { return nil }
        return try Number(derEncoded: BER.parse(value))
    }

    private func primitive(_ type: Int) throws -> ArraySlice<UInt8>? {
        guard let value = first(type) else { return nil }
        guard case .primitive(let bytes) = try BER.parse(value).content else {
            throw ReceiptPayload.ReadingError.malformed(attribute: type)
        }
        return bytes
    }

    private func first(_ type: Int) -> ArraySlice<UInt8>? {
        list.first { $0.type == type }?.value
    }
}
