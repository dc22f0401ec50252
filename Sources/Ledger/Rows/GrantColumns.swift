public import Contract

/// The form of a row of `grants`, the same in every database.
public enum GrantColumns {
    public static let written = WrittenColumns([
        "environment": .integer, "transaction_id": .text, "grant_key": .text, "original_transaction_id": .text,
        "web_order_line_item_id": .text, "product": .integer, "quantity": .integer, "purchased_at": .integer,
        "expires_at": .integer, "ownership": .text, "price": .integer, "currency": .text, "storefront": .text,
        "offer": .text, "offer_discount": .text, "verified_by": .text, "submission_id": .text, "user_id": .text,
        "order_id": .text, "traceparent": .text, "origin_partition": .integer, "origin_offset": .integer,
        "received_at": .integer, "granted_at": .integer, "attempts": .integer, "format": .integer,
        "passed_over": .text,
    ])

    /// Words that take one digit in a row.
    private static let verifiers = ["signedTransaction", "verifyReceipt", "serverAPI", "local"]

    /// Writes the values of ``written``.
    /// - Parameters:
    ///   - product: The number of its row in `products`.
    ///   - partition: The number of its origin's row in `partitions`.
    public static func write(_ grant: Grant, product: Int64, partition: Int64, to row: inout some RowWriter) {
        row.integer(grant.environment.column)
        row.text(grant.transactionID)
        row.text(grant.key.column(of: grant.transactionID))
        row.text(grant.originalTransactionID == grant.transactionID ? nil : grant.originalTransactionID.rawValue)
        row.text(grant.webOrderLineItemID)
        row.integer(product)
        row.integer(grant.quantity)
        row.time(grant.purchasedAt)
        row.time(grant.expiresAt)
        row.text(grant.ownership == .purchased ? nil : grant.ownership.rawValue)
        row.integer(grant.payment?.price)
        row.text(grant.payment?.currency)
        row.text(grant.payment?.storefront)
        row.text(grant.offer?.kind.rawValue)
        row.text(grant.offer?.discountType?.rawValue)
        row.text(verifiers.firstIndex(of: grant.verifiedBy).map { "\($0)" } ?? grant.verifiedBy)
        row.text(grant.submissionID)
        row.text(grant.userID)
        row.text(grant.orderID)
        row.text(grant.claimant.traceparent)
        row.integer(partition)
        row.integer(grant.origin.offset)
        row.time(grant.receivedAt)
        row.time(grant.grantedAt)
        row.integer(grant.attempts)
        row.integer(grant.format.rawValue)
        row.text(grant.passedOver?.text)
    }

    /// Columns of a query for grants and what they are joined with. One says whether the fulfilment call is still owed.
    public static let shown = """
        grants.sequence, grants.environment, grants.transaction_id, grant_key, original_transaction_id,
        web_order_line_item_id, quantity, purchased_at, expires_at, ownership, price, currency, storefront, offer,
        offer_discount, verified_by, products.app, grants.submission_id, grants.user_id, order_id, traceparent,
        partitions.topic, partitions.partition, origin_offset, received_at, granted_at, attempts, format,
        products.product_id, products.type, products.items, grants.kind,
        EXISTS (
            SELECT 1 FROM outbox WHERE outbox.step = 'call' AND outbox.key = 'granted:'
            || CASE grants.environment WHEN 0 THEN 'production:' ELSE 'sandbox:' END || grants.transaction_id),
        grants.passed_over
        """

    public static let joins = """
        JOIN products ON products.number = grants.product
        JOIN partitions ON partitions.number = grants.origin_partition
        """

    public static let selection = "SELECT \(shown) FROM grants \(joins)"

    /// A row as ``selection`` finds it. Any version can read the sequence, column 0.
    public static func grant(_ row: some RowReader) -> GrantRow? {
        stored(row).map { GrantRow(sequence: row.integer(0), grant: $0) }
    }

    /// Adds a row as ``selection`` finds it to those that were found before.
    public static func add(_ row: some RowReader, to found: inout FoundGrants) {
        if let grant = stored(row) {
            found.known.append(StoredGrant(grant, owesCall: row.integer(32) != 0))
        } else {
            found.later.append(later(row))
        }
    }

    /// What can be said of a row that only a later version can read.
    private static func later(_ row: some RowReader) -> LaterRow {
        let environment = Environment(column: row.integer(1))
        let transaction: TransactionID = row.identifier(2)
        return LaterRow(
            row.claimant(16), row.origin(21),
            reference: environment.map { GrantReference(environment: $0, transactionID: transaction) },
            key: environment.map { GrantKey(environment: $0, column: row.optionalText(3), of: transaction) })
    }

    /// Nil for a row that only a later version can read: its event has other bytes than this one would make.
    private static func stored(_ row: some RowReader) -> Grant? {
        let transaction: TransactionID = row.identifier(2)
        guard let environment = Environment(column: row.integer(1)), let type: ProductType = row.word(29),
            let items = StoredProduct.items(text: row.text(30)), let format = EventFormat(rawValue: row.int(27)),
            let ownership = row.isNull(9) ? .purchased : row.word(9) as Ownership?, row.integer(31) == 0
        else { return nil }
        let payment = Payment(
            price: row.optionalInteger(10), currency: row.optionalText(11), storefront: row.optionalText(12))
        var offer: Offer?
        if !row.isNull(13) {
            guard let kind: Offer.Kind = row.word(13) else { return nil }
            let discount: Offer.DiscountType? = row.word(14)
            guard row.isNull(14) || discount != nil else { return nil }
            offer = Offer(kind: kind, discountType: discount)
        }
        let verifier = row.text(15)
        return Grant(
            key: GrantKey(environment: environment, column: row.optionalText(3), of: transaction),
            transactionID: transaction, originalTransactionID: row.optionalIdentifier(4) ?? transaction,
            webOrderLineItemID: row.optionalText(5),
            product: Product(id: row.identifier(28), type: type, items: items), quantity: row.int(6),
            purchasedAt: row.time(7), expiresAt: row.optionalTime(8),
            ownership: ownership,
            payment: payment == Payment(price: nil, currency: nil, storefront: nil) ? nil : payment, offer: offer,
            verifiedBy: Int(verifier).flatMap { verifiers.indices.contains($0) ? verifiers[$0] : nil } ?? verifier,
            claimant: row.claimant(16), origin: row.origin(21), receivedAt: row.time(24), grantedAt: row.time(25),
            attempts: row.int(26), format: format, passedOver: row.optionalText(33).map { PassedOver(text: $0) })
    }
}

/// The form of a row of `products`.
public enum ProductColumns {
    public static let written = WrittenColumns([
        "number": .integer, "app": .text, "product_id": .text, "type": .text, "items": .text,
    ])

    public static func write(_ product: StoredProduct, number: Int64, to row: inout some RowWriter) {
        row.integer(number)
        row.text(product.bundleID)
        row.text(product.product.id)
        row.text(product.product.type.rawValue)
        row.text(product.itemsText)
    }
}
