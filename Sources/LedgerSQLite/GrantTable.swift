import Contract
import Ledger

/// Statements on `grants` and `products`, within one transaction.
struct GrantTable {
    let database: Database

    // MARK: Writing

    private static let columns = """
        environment, transaction_id, grant_key, original_transaction_id, web_order_line_item_id, product, quantity,
        purchased_at, expires_at, ownership, price, currency, storefront, offer, offer_discount, verified_by,
        submission_id, user_id, order_id, traceparent, origin_partition, origin_offset, received_at, granted_at,
        attempts, format, passed_over
        """

    /// A grant, unless its transaction or its key is taken. `OR IGNORE` would let refused values pass, too. One row
    /// each: to a statement that may add several, SQLite first copies every page that it changes.
    private static let insertion = """
        INSERT INTO grants (\(columns))
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """

    /// Tries grants in order.
    /// - Parameters:
    ///   - isPlain: Whether a submission's answer keeps its grant out.
    ///   - partitions: The number of each grant's partition.
    /// - Returns: Whether each is new. The unique indexes decide.
    func insert(_ grants: [NewGrant], isPlain: Bool, partitions: [TopicPartition: Int64]) throws(StoreError) -> [Bool] {
        guard !grants.isEmpty else { return [] }
        let insertion = try database.statement(Self.insertion)
        let answer = try database.statement("SELECT 1 FROM answers WHERE submission_id = ? AND app = ?")
        var products: [StoredProduct: Int64] = [:]
        var flags: [Bool] = []
        flags.reserveCapacity(grants.count)
        for new in grants {
            let grant = new.grant
            if isPlain {
                let isAnswered = try answer.hasRow { $0.submission(grant.claimant.submissionKey) }
                guard !isAnswered else {
                    flags.append(false)
                    continue
                }
            }
            // In the grant's own transaction and each time: nothing can be remembered of one that was rolled back.
            let product = StoredProduct(bundleID: grant.bundleID, product: grant.product)
            let number = products[product] ?? product.number
            if products.updateValue(number, forKey: product) == nil { try insert(product, number) }
            let partition = partitions[grant.origin.topicPartition] ?? 0
            let rows = try insertion.run { Self.bind(grant, product: number, partition: partition, to: &$0) }
            flags.append(rows > 0)
        }
        return flags
    }

    private func insert(_ product: StoredProduct, _ number: Int64) throws(StoreError) {
        try database.statement(
            "INSERT INTO products (number, app, product_id, type, items) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        ).run {
            $0.integer(number)
            $0.text(product.bundleID)
            $0.text(product.product.id)
            $0.text(product.product.type.rawValue)
            $0.text(product.itemsText)
        }
    }

    private static func bind(_ grant: Grant, product: Int64, partition: Int64, to row: inout Binder) {
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
        if let number = verifiers.firstIndex(of: grant.verifiedBy) {
            row.integer(number)
        } else {
            row.text(grant.verifiedBy)
        }
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

    private static let verifiers = ["signedTransaction", "verifyReceipt", "serverAPI", "local"]

    /// Takes back grants of this transaction.
    func withdraw(_ references: [GrantReference]) throws(StoreError) {
        for reference in references {
            try database.statement("DELETE FROM grants WHERE transaction_id = ? AND environment = ?").run {
                $0.reference(reference)
            }
        }
    }

    // MARK: Reading

    /// Columns and sources of a query for grants; `owes_call` says whether the fulfilment call is still owed.
    static let selection = """
        SELECT grants.sequence, grants.environment, grants.transaction_id, grant_key, original_transaction_id,
            web_order_line_item_id, quantity, purchased_at, expires_at, ownership, price, currency, storefront, offer,
            offer_discount, verified_by, products.app, grants.submission_id, user_id, order_id, traceparent,
            partitions.topic, partitions.partition, origin_offset, received_at, granted_at, attempts, format,
            products.product_id, products.type, products.items, grants.kind,
            EXISTS (
                SELECT 1 FROM outbox WHERE step = 'call' AND key = 'granted:'
                || iif(grants.environment = 0, 'production:', 'sandbox:') || grants.transaction_id),
            grants.passed_over
        FROM grants JOIN products ON products.number = grants.product
        JOIN partitions ON partitions.number = grants.origin_partition
        """

    /// The rows that hold what new ones wanted.
    func holders(_ questions: [HolderQuestion]) throws(StoreError) -> FoundGrants {
        var rows = FoundGrants()
        for question in questions {
            rows += try grants("grants.transaction_id = ?1 AND grants.environment = ?2") {
                $0.reference(question.reference)
            }
            guard let key = question.key else { continue }
            rows += try grants("coalesce(grant_key, grants.transaction_id) = ?1 AND grants.environment = ?2") {
                $0.text(key.indexed)
                $0.integer(key.environment.column)
            }
        }
        return rows
    }

    func grants(of submissions: [SubmissionKey]) throws(StoreError) -> FoundGrants {
        var found = FoundGrants()
        for submission in submissions {
            found += try grants("grants.submission_id = ? AND products.app = ?") { $0.submission(submission) }
        }
        return found
    }

    func grants(from ranges: [OriginRange]) throws(StoreError) -> FoundGrants {
        var found = FoundGrants()
        for range in ranges { found += try grants(OriginRange.condition) { range.bind(to: &$0) } }
        return found
    }

    func grants(_ condition: String, _ bind: (inout Binder) -> Void) throws(StoreError) -> FoundGrants {
        var found = FoundGrants()
        let rows = try database.statement("\(Self.selection) WHERE \(condition)").rows(bind) { row -> Found in
            guard let grant = Self.grant(row) else { return .later(Self.later(row)) }
            return .known(StoredGrant(grant, owesCall: row.integer(32) != 0))
        }
        for row in rows {
            switch row {
            case .known(let stored): found.known.append(stored)
            case .later(let row): found.later.append(row)
            }
        }
        return found
    }

    private enum Found {
        case known(StoredGrant)
        case later(LaterRow)
    }

    /// Some apps, as far as it has granted purchases of them or has their submissions in `retries`.
    func ours(_ apps: Set<BundleID>) throws(StoreError) -> Set<BundleID> {
        var ours: Set<BundleID> = []
        for app in apps {
            let isOurs = try database.statement(
                "SELECT 1 FROM retries WHERE app = ?1 UNION ALL SELECT 1 FROM products WHERE app = ?1"
            ).hasRow { $0.text(app) }
            if isOurs { ours.insert(app) }
        }
        return ours
    }

    func page(_ query: GrantQuery) throws(StoreError) -> [GrantRow] {
        let transaction = """
            grants.sequence IN (
                SELECT sequence FROM grants WHERE transaction_id = ?
                UNION SELECT sequence FROM grants WHERE coalesce(grant_key, transaction_id) = ?)
            """
        return try database.page(
            Self.selection, of: "grants", before: query.before, limit: query.limit,
            [
                ("products.app = ?", query.bundleID?.rawValue), ("user_id = ?", query.userID?.rawValue),
                ("order_id = ?", query.orderID?.rawValue), (transaction, query.transactionID?.rawValue),
                ("grants.submission_id = ?", query.submissionID?.rawValue),
            ]
        ) { row in Self.grant(row).map { GrantRow(sequence: row.integer(0), grant: $0) } }
    }

    /// The part of a row that any version can read.
    private static func later(_ row: Columns) -> LaterRow {
        let transaction: TransactionID = row.identifier(2)
        let environment = Environment(column: row.integer(1))
        return LaterRow(
            row.claimant(16), row.origin(21),
            reference: environment.map { GrantReference(environment: $0, transactionID: transaction) },
            key: environment.map { GrantKey(environment: $0, column: row.optionalText(3), of: transaction) })
    }

    /// Nil for a row that only a later version can read: its event has other bytes than this one would make.
    private static func grant(_ row: Columns) -> Grant? {
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

/// Offsets of one partition.
struct OriginRange {
    let partition: TopicPartition
    let offsets: ClosedRange<Int64>

    /// For tables that are joined with `partitions`.
    static let condition = """
        origin_partition = (SELECT number FROM partitions WHERE topic = ?1 AND partition = ?2)
        AND origin_offset BETWEEN ?3 AND ?4
        """

    func bind(to values: inout Binder) {
        values.text(partition.topic)
        values.integer(Int64(partition.partition))
        values.integer(offsets.lowerBound)
        values.integer(offsets.upperBound)
    }

    /// The least ranges, one per partition, that have all these origins.
    static func covering(_ origins: [Origin]) -> [OriginRange] {
        var ranges: [TopicPartition: ClosedRange<Int64>] = [:]
        for origin in origins {
            let range = ranges[origin.topicPartition] ?? origin.offset...origin.offset
            ranges[origin.topicPartition] = min(range.lowerBound, origin.offset)...max(range.upperBound, origin.offset)
        }
        return ranges.map { OriginRange(partition: $0.key, offsets: $0.value) }.sorted { $0.partition < $1.partition }
    }
}

extension Environment {
    var column: Int64 {
        switch self {
        case .production: 0
        case .sandbox: 1
        }
    }

    /// Nil for the number of a later version.
    init?(column: Int64) {
        switch column {
        case 0: self = .production
        case 1: self = .sandbox
        default: return nil
        }
    }
}
