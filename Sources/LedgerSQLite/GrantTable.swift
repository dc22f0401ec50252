import Contract
import Ledger

/// Statements on `grants` and `products`, within one transaction.
struct GrantTable {
    let database: Database

    // MARK: Writing

    /// A grant, unless its transaction or its key is taken. `OR IGNORE` would let refused values pass, too. One row
    /// each: for a statement that may add several, SQLite first copies every page that it changes.
    private static let insertion = GrantColumns.written.insertion(into: "grants")
    private static let productInsertion = ProductColumns.written.insertion(into: "products")

    /// Tries grants in order.
    /// - Parameters:
    ///   - isFast: Whether a submission's answer keeps its grant out.
    ///   - partitions: The number of each grant's partition.
    /// - Returns: Whether each is new. The unique indexes decide.
    func insert(_ grants: [NewGrant], isFast: Bool, partitions: [TopicPartition: Int64]) throws(StoreError) -> [Bool] {
        guard !grants.isEmpty else { return [] }
        let insertion = try database.statement(Self.insertion)
        let answer = try database.statement("SELECT 1 FROM answers WHERE submission_id = ? AND app = ?")
        var products: [StoredProduct: Int64] = [:]
        var flags: [Bool] = []
        flags.reserveCapacity(grants.count)
        for new in grants {
            let grant = new.grant
            if isFast {
                let isAnswered = try answer.hasRow { $0.submission(grant.claimant.submissionKey) }
                guard !isAnswered else {
                    flags.append(false)
                    continue
                }
            }
            // In the grant's own transaction and each time: nothing of a rolled-back transaction may be remembered.
            let product = StoredProduct(of: grant)
            let number = products[product] ?? product.number
            if products.updateValue(number, forKey: product) == nil { try insert(product, number) }
            let partition = partitions[grant.origin.topicPartition] ?? 0
            let rows = try insertion.run {
                GrantColumns.write(grant, product: number, partition: partition, to: &$0)
            }
            flags.append(rows > 0)
        }
        return flags
    }

    private func insert(_ product: StoredProduct, _ number: Int64) throws(StoreError) {
        try database.statement(Self.productInsertion).run { ProductColumns.write(product, number: number, to: &$0) }
    }

    /// Takes back grants of this transaction.
    func withdraw(_ grants: [NewGrant]) throws(StoreError) {
        for new in grants {
            try database.statement("DELETE FROM grants WHERE transaction_id = ? AND environment = ?").run {
                $0.reference(new.grant.reference)
            }
        }
    }

    /// Replaces the ids of a person.
    func erase(_ grants: [ErasedGrant]) throws(StoreError) {
        for grant in grants {
            try database.statement(
                """
                UPDATE grants SET submission_id = ?1, user_id = ?2, order_id = ?3, traceparent = NULL
                WHERE sequence = ?4
                """
            ).run {
                $0.text(grant.submissionID)
                $0.text(grant.userID)
                $0.text(grant.orderID)
                $0.integer(grant.place)
            }
        }
    }

    // MARK: Reading

    /// The rows that hold the keys of refused ones.
    func holders(_ questions: [HolderQuestion]) throws(StoreError) -> FoundGrants {
        var rows = FoundGrants()
        for question in questions {
            rows += try found("grants.transaction_id = ?1 AND grants.environment = ?2") {
                $0.reference(question.reference)
            }
            guard let key = question.key else { continue }
            rows += try found("coalesce(grant_key, grants.transaction_id) = ?1 AND grants.environment = ?2") {
                $0.text(key.indexed)
                $0.integer(key.environment.column)
            }
        }
        return rows
    }

    func found(of submissions: [SubmissionKey]) throws(StoreError) -> FoundGrants {
        var rows = FoundGrants()
        for submission in submissions {
            rows += try found("grants.submission_id = ? AND products.app = ?") { $0.submission(submission) }
        }
        return rows
    }

    func found(from ranges: [OriginRange]) throws(StoreError) -> FoundGrants {
        var rows = FoundGrants()
        for range in ranges { rows += try found(OriginRange.condition) { range.bind(to: &$0) } }
        return rows
    }

    func found(_ condition: String, _ bind: (inout Binder) -> Void) throws(StoreError) -> FoundGrants {
        var found = FoundGrants()
        try database.statement("\(GrantColumns.selection) WHERE \(condition)").each(bind) {
            GrantColumns.add($0, to: &found)
        }
        return found
    }

    /// The apps among these of which the ledger has granted purchases, or has submissions in `retries`.
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

    /// Whether there is a grant of an app.
    func hasAny(of app: BundleID) throws(StoreError) -> Bool {
        try database.statement("SELECT 1 FROM products WHERE app = ?1").hasRow { $0.text(app) }
    }

    /// How many grants a user has, also those that only a later version can read.
    /// - Parameter app: Nil for all apps.
    func count(of user: UserID, _ app: BundleID?) throws(StoreError) -> Int {
        try database.statement(
            """
            SELECT count(*) FROM grants WHERE user_id = ?1
                AND (?2 IS NULL OR product IN (SELECT number FROM products WHERE app = ?2))
            """
        ).count {
            $0.text(user)
            $0.text(app)
        }
    }

    func page(_ query: GrantQuery) throws(StoreError) -> [GrantRow] {
        let transaction = """
            grants.sequence IN (
                SELECT sequence FROM grants WHERE transaction_id = ?
                UNION SELECT sequence FROM grants WHERE coalesce(grant_key, transaction_id) = ?)
            """
        return try database.page(
            GrantColumns.selection, of: "grants", before: query.before, limit: query.limit,
            [
                ("grants.kind = ?", "0"), ("products.app = ?", query.bundleID?.rawValue),
                ("grants.user_id = ?", query.userID?.rawValue),
                ("order_id = ?", query.orderID?.rawValue), (transaction, query.transactionID?.rawValue),
                ("grants.submission_id = ?", query.submissionID?.rawValue),
                ("grants.sequence >= CAST(? AS INTEGER)", query.from.map { String($0) }),
            ], sequence: GrantColumns.sequence.index
        ) { row in GrantColumns.grant(row) }
    }
}

extension OriginRange {
    /// For tables that are joined with `partitions`.
    static let condition = """
        origin_partition = (SELECT number FROM partitions WHERE topic = ?1 AND partition = ?2)
        AND origin_offset BETWEEN ?3 AND ?4
        """

    func bind(to values: inout Binder) {
        values.partition(partition)
        values.integer(offsets.lowerBound)
        values.integer(offsets.upperBound)
    }
}
