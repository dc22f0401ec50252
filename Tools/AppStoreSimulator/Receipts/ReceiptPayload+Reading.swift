internal import Contract

extension ReceiptPayload {
    /// Why bytes are not a receipt's payload.
    enum ReadingError: Error, Equatable {
        case notAttributes
        case missing(attribute: Int)
        case malformed(attribute: Int)
    }

    /// Reads back what ``bytes(of:fillingTo:)`` wrote; ``ReceiptSpecification/targetSize`` is nil.
    static func receipt(from payload: ArraySlice<UInt8>) throws(ReadingError) -> ReceiptSpecification {
        let attributes = try Attributes(payload)
        guard let type = try attributes.text(ReceiptAttribute.receiptType),
            let environment = ReceiptEnvironment(receiptType: type)
        else { throw .missing(attribute: ReceiptAttribute.receiptType) }
        guard let bundleID = try attributes.text(ReceiptAttribute.bundleID) else {
            throw .missing(attribute: ReceiptAttribute.bundleID)
        }
        guard let creationDate = try attributes.moment(ReceiptAttribute.creationDate) else {
            throw .missing(attribute: ReceiptAttribute.creationDate)
        }
        var purchases: [SimulatedPurchase] = []
        for attribute in attributes.list {
            switch attribute.type {
            case ReceiptAttribute.purchase: purchases.append(try purchase(from: attribute.value, isLater: false))
            case ReceiptAttribute.laterPurchase: purchases.append(try purchase(from: attribute.value, isLater: true))
            default: break
            }
        }
        return ReceiptSpecification(
            bundleID: BundleID(bundleID), environment: environment, purchases: purchases, creationDate: creationDate)
    }

    private static func purchase(
        from value: ArraySlice<UInt8>, isLater: Bool
    ) throws(ReadingError) -> SimulatedPurchase {
        let attributes = try Attributes(value)
        guard let transactionID = try attributes.text(PurchaseAttribute.transactionID) else {
            throw .missing(attribute: PurchaseAttribute.transactionID)
        }
        guard let productID = try attributes.text(PurchaseAttribute.productID) else {
            throw .missing(attribute: PurchaseAttribute.productID)
        }
        guard let purchasedAt = try attributes.moment(PurchaseAttribute.purchaseDate) else {
            throw .missing(attribute: PurchaseAttribute.purchaseDate)
        }
        let original = try attributes.text(PurchaseAttribute.originalTransactionID)
        let kind = try attributes.integer(PurchaseAttribute.kind)
        let lineItem = try attributes.integer(PurchaseAttribute.webOrderLineItemID)
        let ownership = try attributes.text(PurchaseAttribute.ownership)
        let isInBothLists = try attributes.integer(PurchaseAttribute.inBothLists) == 1
        return SimulatedPurchase(
            transactionID: TransactionID(transactionID), originalTransactionID: original.map { TransactionID($0) },
            productID: ProductID(productID), kind: kind.flatMap(ProductType.init(receiptValue:)) ?? .consumable,
            quantity: try attributes.integer(PurchaseAttribute.quantity).map { Int($0) } ?? 1,
            purchasedAt: purchasedAt,
            originalPurchasedAt: try attributes.moment(PurchaseAttribute.originalPurchaseDate),
            expiresAt: try attributes.moment(PurchaseAttribute.expiresDate),
            cancelledAt: try attributes.moment(PurchaseAttribute.cancellationDate),
            cancellationReason: try attributes.text(PurchaseAttribute.cancellationReason),
            webOrderLineItemID: lineItem == 0 ? nil : lineItem,
            ownership: ownership.flatMap { Ownership(rawValue: $0) } ?? .purchased,
            appAccountToken: try attributes.text(PurchaseAttribute.appAccountToken),
            isUpgraded: try attributes.integer(PurchaseAttribute.isUpgraded) == 1,
            placement: isLater ? .latestReceiptInfo : isInBothLists ? .both : .inApp)
    }
}

/// The attributes of a SET, in its order.
private struct Attributes {
    let list: [(type: Int, value: ArraySlice<UInt8>)]

    init(_ bytes: ArraySlice<UInt8>) throws(ReceiptPayload.ReadingError) {
        do throws(DERReader.Malformed) {
            var list: [(type: Int, value: ArraySlice<UInt8>)] = []
            for member in try DERReader(bytes).members(of: DERTag.set) {
                let parts = try member.members(of: DERTag.sequence)
                guard parts.count == 3 else { throw DERReader.Malformed() }
                list.append((Int(try parts[0].integer), try parts[2].octets))
            }
            self.list = list
        } catch {
            throw .notAttributes
        }
    }

    /// Nil when it is absent or an empty text.
    func text(_ type: Int) throws(ReceiptPayload.ReadingError) -> String? {
        guard let value = try value(type), !value.contents.isEmpty else { return nil }
        return String(decoding: value.contents, as: UTF8.self)
    }

    /// Nil when it is absent or an empty text.
    func moment(_ type: Int) throws(ReceiptPayload.ReadingError) -> Timestamp? {
        guard let text = try text(type) else { return nil }
        guard let moment = Timestamp(rfc3339: text) else { throw .malformed(attribute: type) }
        return moment
    }

    func integer(_ type: Int) throws(ReceiptPayload.ReadingError) -> Int64? {
        guard let value = try value(type) else { return nil }
        guard let integer = try? value.integer else { throw .malformed(attribute: type) }
        return integer
    }

    private func value(_ type: Int) throws(ReceiptPayload.ReadingError) -> DERReader? {
        guard let value = list.first(where: { $0.type == type })?.value else { return nil }
        guard let reader = try? DERReader(value) else { throw .malformed(attribute: type) }
        return reader
    }
}
