public import Contract

/// The form of a row of `grants`, the same in every database.
public enum GrantColumns: Int32, RecordColumn {
    case environment, transactionID, grantKey, originalTransactionID, webOrderLineItemID, product, quantity
    case purchasedAt, expiresAt, ownership, price, currency, storefront, offer, offerDiscount, verifiedBy
    case submissionID, userID, orderID, traceparent, originPartition, originOffset, receivedAt, grantedAt, attempts
    case format, passedOver
    // Read beside those that are written.
    case sequence, kindOfRow, app, productID, type, items, topic, partition, owesCall

    public static let table = "grants"
    private static let values = Array(allCases.prefix { $0 != .sequence })
    public static let written = WrittenColumns(values)

    public var kind: WrittenColumns.Kind {
        switch self {
        case .transactionID, .grantKey, .originalTransactionID, .webOrderLineItemID, .ownership, .currency,
            .storefront, .offer, .offerDiscount, .verifiedBy, .submissionID, .userID, .orderID, .traceparent,
            .passedOver, .app, .productID, .type, .items, .topic:
            .text
        case .environment, .product, .quantity, .purchasedAt, .expiresAt, .price, .originPartition, .originOffset,
            .receivedAt, .grantedAt, .attempts, .format, .sequence, .kindOfRow, .partition, .owesCall:
            .integer
        }
    }

    public var source: String {
        switch self {
        case .app, .productID, .type, .items: "products.\(name)"
        case .topic, .partition: "partitions.\(name)"
        case .kindOfRow: "grants.kind"
        // Whether the fulfilment call is still owed.
        case .owesCall:
            """
            EXISTS (
                SELECT 1 FROM outbox WHERE outbox.step = 'call' AND outbox.key = 'granted:'
                || CASE grants.environment WHEN 0 THEN 'production:' ELSE 'sandbox:' END || grants.transaction_id)
            """
        default: "grants.\(name)"
        }
    }

    /// Words that take one digit in a row.
    private static let verifiers = ["signedTransaction", "verifyReceipt", "serverAPI", "local"]

    /// Writes the values of ``written``.
    /// - Parameters:
    ///   - product: The number of its row in `products`.
    ///   - partition: The number of its origin's row in `partitions`.
    public static func write(_ grant: Grant, product: Int64, partition: Int64, to row: inout some RowWriter) {
        let transaction = grant.transactionID
        for column in values {
            switch column {
            case .environment: row.integer(grant.environment.column)
            case .transactionID: row.text(transaction)
            case .grantKey: row.text(grant.key.column(of: transaction))
            case .originalTransactionID:
                row.text(grant.originalTransactionID == transaction ? nil : grant.originalTransactionID)
            case .webOrderLineItemID: row.text(grant.webOrderLineItemID)
            case .product: row.integer(product)
            case .quantity: row.integer(grant.quantity)
            case .purchasedAt: row.time(grant.purchasedAt)
            case .expiresAt: row.time(grant.expiresAt)
            case .ownership: row.text(grant.ownership == .purchased ? nil : grant.ownership.rawValue)
            case .price: row.integer(grant.payment?.price)
            case .currency: row.text(grant.payment?.currency)
            case .storefront: row.text(grant.payment?.storefront)
            case .offer: row.text(grant.offer?.kind.rawValue)
            case .offerDiscount: row.text(grant.offer?.discountType?.rawValue)
            case .verifiedBy: row.text(verifiers.firstIndex(of: grant.verifiedBy).map { "\($0)" } ?? grant.verifiedBy)
            case .submissionID: row.text(grant.submissionID)
            case .userID: row.text(grant.userID)
            case .orderID: row.text(grant.orderID)
            case .traceparent: row.text(grant.claimant.traceparent)
            case .originPartition: row.integer(partition)
            case .originOffset: row.integer(grant.origin.offset)
            case .receivedAt: row.time(grant.receivedAt)
            case .grantedAt: row.time(grant.grantedAt)
            case .attempts: row.integer(grant.attempts)
            case .format: row.integer(grant.format.rawValue)
            case .passedOver: row.text(grant.passedOver?.text)
            case .sequence, .kindOfRow, .app, .productID, .type, .items, .topic, .partition, .owesCall: break
            }
        }
    }

    /// Columns of a query for grants and what they are joined with.
    public static let shown = selected

    public static let joins = """
        JOIN products ON products.number = grants.product
        JOIN partitions ON partitions.number = grants.origin_partition
        """

    public static let selection = "SELECT \(shown) FROM grants \(joins)"

    /// A row as ``selection`` finds it. Any version can read its ``sequence``.
    public static func grant(_ row: some RowReader) -> GrantRow? {
        let row = TableRow(row, Self.self)
        return stored(row).map { GrantRow(sequence: row.integer(.sequence), grant: $0) }
    }

    /// A row as ``selection`` finds it, for its event.
    public static func decided(_ row: some RowReader) -> DecidedRow {
        let row = TableRow(row, Self.self)
        let grant = stored(row).map { StoredGrant($0, owesCall: row.integer(.owesCall) != 0) }
        return DecidedRow(place: row.integer(.sequence), content: grant.map { .grant($0) } ?? .later)
    }

    /// Adds a row as ``selection`` finds it to those that were found before.
    public static func add(_ row: some RowReader, to found: inout FoundGrants) {
        let row = TableRow(row, Self.self)
        if let grant = stored(row) {
            found.known.append(StoredGrant(grant, owesCall: row.integer(.owesCall) != 0))
        } else {
            found.later.append(later(row))
        }
    }

    /// As ``selection``, for an audit, which reads the outbox by itself.
    public static let auditedSelection = """
        SELECT \(allCases.map { $0 == .owesCall ? "0" : $0.source }.joined(separator: ", ")) FROM grants \(joins)
        """

    /// A row as ``auditedSelection`` finds it.
    public static func audited(_ row: some RowReader) -> AuditedRow {
        let row = TableRow(row, Self.self)
        return AuditedRow(
            sequence: row.integer(.sequence), content: stored(row).map { .grant($0) } ?? .later(later(row)))
    }

    /// The known part of a row that only a later version can read.
    private static func later(_ row: TableRow<Self, some RowReader>) -> LaterRow {
        let environment = Environment(column: row.integer(.environment))
        let transaction: TransactionID = row.identifier(.transactionID)
        return LaterRow(
            row.claimant, row.origin,
            reference: environment.map { GrantReference(environment: $0, transactionID: transaction) },
            key: environment.map { GrantKey(environment: $0, column: row.optionalText(.grantKey), of: transaction) })
    }

    /// Nil for a row that only a later version can read: its event has other bytes than this one would make.
    private static func stored(_ row: TableRow<Self, some RowReader>) -> Grant? {
        let transaction: TransactionID = row.identifier(.transactionID)
        guard let environment = Environment(column: row.integer(.environment)), let type: ProductType = row.word(.type),
            let items = StoredProduct.items(text: row.text(.items)),
            let format = EventFormat(rawValue: row.int(.format)),
            let ownership = row.isNull(.ownership) ? .purchased : row.word(.ownership) as Ownership?,
            row.integer(.kindOfRow) == 0
        else { return nil }
        let payment = Payment(
            price: row.optionalInteger(.price), currency: row.optionalText(.currency),
            storefront: row.optionalText(.storefront))
        var offer: Offer?
        if !row.isNull(.offer) {
            guard let kind: Offer.Kind = row.word(.offer) else { return nil }
            let discount: Offer.DiscountType? = row.word(.offerDiscount)
            guard row.isNull(.offerDiscount) || discount != nil else { return nil }
            offer = Offer(kind: kind, discountType: discount)
        }
        let verifier = row.text(.verifiedBy)
        return Grant(
            key: GrantKey(environment: environment, column: row.optionalText(.grantKey), of: transaction),
            transactionID: transaction,
            originalTransactionID: row.optionalIdentifier(.originalTransactionID) ?? transaction,
            webOrderLineItemID: row.optionalText(.webOrderLineItemID),
            product: Product(id: row.identifier(.productID), type: type, items: items), quantity: row.int(.quantity),
            purchasedAt: row.time(.purchasedAt), expiresAt: row.optionalTime(.expiresAt), ownership: ownership,
            payment: payment == Payment(price: nil, currency: nil, storefront: nil) ? nil : payment, offer: offer,
            verifiedBy: Int(verifier).flatMap { verifiers.indices.contains($0) ? verifiers[$0] : nil } ?? verifier,
            claimant: row.claimant, origin: row.origin, receivedAt: row.time(.receivedAt),
            grantedAt: row.time(.grantedAt), attempts: row.int(.attempts), format: format,
            passedOver: row.optionalText(.passedOver).map { PassedOver(text: $0) })
    }
}

/// The form of a row of `products`; a grant's is read with it.
public enum ProductColumns: Int32, TableColumn {
    case number, app, productID, type, items

    public static let table = "products"
    private static let values = allCases
    public static let written = WrittenColumns(values)

    public var kind: WrittenColumns.Kind { self == .number ? .integer : .text }

    public static func write(_ product: StoredProduct, number: Int64, to row: inout some RowWriter) {
        for column in values {
            switch column {
            case .number: row.integer(number)
            case .app: row.text(product.bundleID)
            case .productID: row.text(product.product.id)
            case .type: row.text(product.product.type.rawValue)
            case .items: row.text(product.itemsText)
            }
        }
    }
}
