import Contract
import Ledger

/// Statements on `grants` and `products`, within one transaction.
struct GrantTable {
    let connection: PostgresConnection

    // MARK: Writing

    /// Adds grants in the order of their keys, and of their decisions where they have one key. Each is added unless its
    /// transaction or its key is taken.
    /// - Parameters:
    ///   - partitions: The numbers of their origins' partitions.
    ///   - arbiter: The only key that may be taken; nil for any. That another one is taken is an error then.
    /// - Returns: Whether each is new, in the order that was given. The unique indexes decide.
    func insert(
        _ grants: [NewGrant], partitions: [TopicPartition: Int64], arbiter: String? = nil
    ) throws(PostgresFailure) -> [Bool] {
        guard !grants.isEmpty else { return [] }
        let products = Self.products(of: grants)
        let columns = Self.columns(grants, products) { partitions[$0.grant.origin.topicPartition] ?? 0 }
        let results = try connection.run([
            Self.insertion(products), PostgresStatement(Self.wholeInsertion(arbiter ?? "")) { columns.add(to: &$0) },
        ])
        return Self.flags(grants, results[1])
    }

    /// Tries grants again that were refused although no row has their keys. Other rows have their numbers: the sequence
    /// is behind its table, as in a copy without sequences. The server says so once no other key may be in the way.
    /// - Throws: `.again` where one is added: a number that is free is found by another try.
    func explain(_ refused: [NewGrant], partitions: [TopicPartition: Int64]) throws(PostgresFailure) {
        guard try insert(refused, partitions: partitions, arbiter: "(transaction_id, environment)").contains(true)
        else { return }
        throw .again("a number of grants came again")
    }

    /// The fast path of a write: one statement that is its own transaction. A grant is added unless its partition
    /// belongs to another generation, its submission has an answer, or one of its keys is taken.
    /// - Parameters:
    ///   - products: The products of the grants, with their numbers.
    ///   - ownership: That of each grant's decision.
    static func fastInsertion(
        _ grants: [NewGrant], _ products: [StoredProduct: Int64], ownership: (NewGrant) -> PartitionOwnership?
    ) -> PostgresStatement {
        var ownerships: [PartitionOwnership] = []
        var places: [PartitionOwnership: Int64] = [:]
        let columns = columns(grants, products) { new in
            guard let ownership = ownership(new) else { return -1 }
            if let place = places[ownership] { return place }
            places[ownership] = Int64(ownerships.count)
            ownerships.append(ownership)
            return Int64(ownerships.count - 1)
        }
        return PostgresStatement(fastInsertion) { parameters in
            columns.add(to: &parameters)
            PartitionTable.columns(ownerships).add(to: &parameters)
        }
    }

    /// Values in the order of `GrantColumns.written`, then the app. Rows stand in the order of their keys, in which
    /// every session locks them.
    private static func columns(
        _ grants: [NewGrant], _ products: [StoredProduct: Int64], partition: (NewGrant) -> Int64
    ) -> PostgresColumns {
        var columns = PostgresColumns(types: GrantColumns.written.elements + [.text])
        let grants = grants.sorted {
            ($0.grant.environment.rawValue, $0.grant.key.name, $0.decision)
                < ($1.grant.environment.rawValue, $1.grant.key.name, $1.decision)
        }
        for new in grants {
            let product = StoredProduct(of: new.grant)
            GrantColumns.write(
                new.grant, product: products[product] ?? product.number, partition: partition(new), to: &columns)
            columns.text(new.grant.bundleID)
        }
        return columns
    }

    private static let names = GrantColumns.written.names

    /// A source of rows from arrays, one for each column.
    private static let rows =
        "unnest(\(GrantColumns.written.parameters), $\(names.count + 1)::text[])"
        + " WITH ORDINALITY AS given (\(names.joined(separator: ", ")), app, place)"

    private static func wholeInsertion(_ arbiter: String) -> String {
        """
        INSERT INTO grants (\(GrantColumns.written.list)) SELECT \(GrantColumns.written.list) FROM \(rows)
        ORDER BY place
        ON CONFLICT \(arbiter) DO NOTHING RETURNING transaction_id, environment, submission_id, grant_key
        """
    }

    /// The column of the partition has the ownership's index at first. For each row the few partitions are searched:
    /// OFFSET keeps that order. The other order goes through all rows and their columns for each partition, which took
    /// half of the statement's time.
    private static let fastInsertion = """
        WITH owned AS MATERIALIZED (
            SELECT place, partitions.number
            FROM unnest(
                $\(names.count + 2)::bigint[], $\(names.count + 3)::text[], $\(names.count + 4)::bigint[],
                $\(names.count + 5)::bigint[]) AS asked (place, t, p, g)
            JOIN partitions ON topic = t AND partition = p AND generation = g
            \(PartitionTable.order) FOR KEY SHARE OF partitions)
        INSERT INTO grants (\(GrantColumns.written.list))
        SELECT \(names.map { $0 == "origin_partition" ? "owner.number" : "given.\($0)" }.joined(separator: ", "))
        FROM \(rows)
        CROSS JOIN LATERAL (SELECT number FROM owned WHERE owned.place = given.origin_partition OFFSET 0) AS owner
        WHERE NOT EXISTS (
            SELECT 1 FROM answers WHERE answers.submission_id = given.submission_id AND answers.app = given.app)
        ORDER BY given.place
        ON CONFLICT DO NOTHING RETURNING transaction_id, environment, submission_id, grant_key
        """

    /// A row that was added. A batch may hold one purchase for two submissions, or under two keys.
    private struct Inserted: Hashable {
        let transaction: TransactionID
        let environment: Int64
        let submission: SubmissionID
        let key: String?
    }

    /// Whether each grant is among the rows that an insertion returned.
    static func flags(_ grants: [NewGrant], _ result: PostgresResult) -> [Bool] {
        guard result.rowCount < grants.count else { return Array(repeating: true, count: grants.count) }
        var new = Set(
            result.rows.map {
                Inserted(
                    transaction: $0.identifier(0), environment: $0.integer(1), submission: $0.identifier(2),
                    key: $0.optionalText(3))
            })
        return grants.map { given in
            let grant = given.grant
            let inserted = Inserted(
                transaction: grant.transactionID, environment: grant.environment.column,
                submission: grant.submissionID, key: grant.key.column(of: grant.transactionID))
            return new.remove(inserted) != nil
        }
    }

    /// The products of some grants with their numbers, each once: a number costs a digest.
    static func products(of grants: [NewGrant]) -> [StoredProduct: Int64] {
        var products: [StoredProduct: Int64] = [:]
        for new in grants {
            let product = StoredProduct(of: new.grant)
            if products[product] == nil { products[product] = product.number }
        }
        return products
    }

    private static func insertion(_ products: [StoredProduct: Int64]) -> PostgresStatement {
        PostgresStatement(
            ProductColumns.written.insertion(into: "products", key: "number"),
            each: products.sorted { $0.value < $1.value }, ProductColumns.written.elements
        ) { ProductColumns.write($0.key, number: $0.value, to: &$1) }
    }

    /// Replaces the ids of a person. Workers and operators have no right to it.
    func erase(_ grants: [ErasedGrant]) throws(PostgresFailure) {
        guard !grants.isEmpty else { return }
        try connection.run(
            PostgresStatement(
                """
                UPDATE grants SET submission_id = s, user_id = u, order_id = o, traceparent = NULL
                FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS given (place, s, u, o)
                WHERE sequence = place
                """, each: grants, [.integer, .text, .text, .text]
            ) { grant, row in
                row.integer(grant.place)
                row.text(grant.submissionID)
                row.text(grant.userID)
                row.text(grant.orderID)
            })
    }

    // MARK: Reading

    /// The rows that hold what new ones wanted.
    func holders(_ questions: [HolderQuestion]) throws(PostgresFailure) -> FoundGrants {
        guard !questions.isEmpty else { return FoundGrants() }
        return try found([
            Self.select(
                "$1::text[], $2::bigint[]", "grants.transaction_id = a AND grants.environment = b",
                each: questions, [.text, .integer]
            ) { $1.reference($0.reference) },
            Self.select(
                "$1::text[], $2::bigint[]",
                "coalesce(grants.grant_key, grants.transaction_id) = a AND grants.environment = b",
                each: questions.compactMap(\.key), [.text, .integer]
            ) { key, row in
                row.text(key.indexed)
                row.integer(key.environment.column)
            },
        ])
    }

    func found(of submissions: [SubmissionKey]) throws(PostgresFailure) -> FoundGrants {
        guard !submissions.isEmpty else { return FoundGrants() }
        return try found([Self.select(of: submissions)])
    }

    func found(of transactions: Set<TransactionID>) throws(PostgresFailure) -> FoundGrants {
        try found([
            Self.select("$1::text[]", "grants.transaction_id = a", each: transactions, [.text]) { $1.text($0) }
        ])
    }

    func found(from ranges: [OriginRange]) throws(PostgresFailure) -> FoundGrants {
        try found(ranges.map { $0.statement("\(GrantColumns.selection) WHERE") })
    }

    /// Tables are joined in the written order, so the table of requested keys stands first.
    private static func select<Element>(
        _ arrays: String, _ condition: String, rest: String = "", each elements: some Sequence<Element>,
        _ types: [PostgresColumn.Element], _ write: (Element, inout PostgresColumns) -> Void
    ) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT \(GrantColumns.shown) FROM unnest(\(arrays)) AS asked (\(types.count == 1 ? "a" : "a, b"))
            JOIN grants ON \(condition) \(GrantColumns.joins) \(rest)
            """, each: elements, types, write)
    }

    private static func select(of submissions: [SubmissionKey], order: String = "") -> PostgresStatement {
        select(
            "$1::text[], $2::text[]", HashedIndex.condition("grants.submission_id", "a"),
            rest: "WHERE products.app = b \(order)", each: submissions, [.text, .text]
        ) { $1.submission($0) }
    }

    private func found(_ statements: [PostgresStatement]) throws(PostgresFailure) -> FoundGrants {
        var found = FoundGrants()
        for result in try connection.run(statements) {
            for row in result.rows { GrantColumns.add(row, to: &found) }
        }
        return found
    }

    /// The apps among these of which the ledger has granted purchases, or has submissions in `retries`.
    func ours(_ apps: Set<BundleID>) throws(PostgresFailure) -> Set<BundleID> {
        guard !apps.isEmpty else { return [] }
        let statement = PostgresStatement(
            """
            SELECT a FROM unnest($1::text[]) AS asked (a) WHERE EXISTS (SELECT 1 FROM retries WHERE app = a)
                OR EXISTS (SELECT 1 FROM products WHERE app = a)
            """, each: apps, [.text]
        ) { $1.text($0) }
        return Set(try connection.run(statement).rows.map { $0.identifier(0) })
    }

    /// Whether there is a grant of an app.
    func hasAny(of app: BundleID) throws(PostgresFailure) -> Bool {
        let statement = PostgresStatement("SELECT 1 FROM products WHERE app = $1::text LIMIT 1") { $0.text(app) }
        return try connection.run(statement).first != nil
    }

    /// The grants of some submissions, the newest first.
    func all(of submissions: [SubmissionKey]) -> PostgresQuestion<[SubmissionKey: KnownRows<GrantRow>]> {
        PostgresQuestion(Self.select(of: submissions, order: "ORDER BY grants.sequence DESC")) { result in
            KnownRows.bySubmission(result, GrantColumns.self) { GrantColumns.grant($0) }
        }
    }

    /// How many grants a user has, also those that only a later version can read.
    /// - Parameter app: Nil for all apps.
    func count(of user: UserID, _ app: BundleID?) throws(PostgresFailure) -> Int {
        let statement = PostgresStatement(
            """
            SELECT count(*) FROM grants WHERE \(HashedIndex.condition("user_id", "$1::text"))
                AND ($2::text IS NULL OR product IN (SELECT number FROM products WHERE app = $2::text))
            """
        ) {
            $0.text(user)
            $0.text(app)
        }
        return try connection.run(statement).first?.int(0) ?? 0
    }

    func page(_ query: GrantQuery) -> ListPage<GrantRow> {
        // An array, because a join would begin with the first table that is named, and read all of it.
        let transaction = """
            grants.sequence = ANY (ARRAY(
                SELECT sequence FROM grants WHERE transaction_id = ?
                UNION SELECT sequence FROM grants WHERE coalesce(grant_key, transaction_id) = ?))
            """
        return ListPage(
            GrantColumns.selection, of: "grants", where: "grants.kind = 0", before: query.before, limit: query.limit,
            [
                // So the app's products are looked up once, and not those of each grant.
                ("(product IN (SELECT number FROM products WHERE app = ?)) IS TRUE", query.bundleID?.rawValue),
                (HashedIndex.condition("grants.user_id", "?"), query.userID?.rawValue),
                (HashedIndex.condition("order_id", "?"), query.orderID?.rawValue),
                (transaction, query.transactionID?.rawValue),
                (HashedIndex.condition("grants.submission_id", "?"), query.submissionID?.rawValue),
                ("grants.sequence >= ?::bigint", query.from.map { String($0) }),
            ], plan: query.plan, sequence: GrantColumns.sequence.index
        ) { row in GrantColumns.grant(row) }
    }
}
