import GRDB
import Purchases

/// Statements on grants, within one database access.
struct GrantTable {
    private struct StoredItem: Decodable {
        let item: String
        let quantity: Int
    }

    let database: Database
    private let insertion: PreparedStatement

    init(_ database: Database) throws {
        self.database = database
        insertion = try PreparedStatement(
            """
            INSERT INTO grants (
                grant_key, environment, transaction_id, original_transaction_id, web_order_line_item_id,
                product_id, product_type, quantity, items, purchased_at, expires_at, revoked_at, is_upgraded, ownership,
                app_account_token, submission_id, user_id, bundle_id, order_id, traceparent, verified_by, granted_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, on: database)
    }

    /// Adds a grant unless its key is taken, or its transaction granted.
    ///
    /// - Returns: whether it is new. The unique indexes decide.
    func insert(_ claim: GrantClaim, claimant: Claimant, now: Timestamp) throws -> Bool {
        let granted = claim.granted
        let purchase = granted.purchase
        return try insertion.run {
            $0.text(claim.key.text)
            $0.text(purchase.environment.rawValue)
            $0.text(purchase.transactionID.rawValue)
            $0.text(purchase.originalTransactionID.rawValue)
            $0.text(purchase.webOrderLineItemID)
            $0.text(purchase.productID.rawValue)
            $0.text(granted.type.rawValue)
            $0.integer(Int64(purchase.quantity))
            $0.text(Self.text(of: granted.items))
            $0.time(purchase.purchasedAt)
            $0.time(purchase.expiresAt)
            $0.time(purchase.revokedAt)
            $0.integer(purchase.isUpgraded ? 1 : 0)
            $0.text(purchase.ownership.rawValue)
            $0.text(purchase.appAccountToken)
            $0.text(claimant.submissionID.rawValue)
            $0.text(claimant.userID.rawValue)
            $0.text(claimant.bundleID.rawValue)
            $0.text(claimant.orderID?.rawValue)
            $0.text(claimant.traceparent)
            $0.text(claim.verifiedBy.rawValue)
            $0.time(now)
        } > 0
    }

    /// Whom a purchase was granted to: by its key, else by its transaction under another key.
    func holder(of claim: GrantClaim) throws -> GrantHolder? {
        let purchase = claim.granted.purchase
        let statement = try PreparedStatement(
            """
            SELECT user_id, order_id, grant_key FROM grants WHERE grant_key = ?1
            UNION ALL
            SELECT user_id, order_id, grant_key FROM grants WHERE transaction_id = ?2 AND environment = ?3
            """, on: database)
        return try statement.rows({
            $0.text(claim.key.text)
            $0.text(purchase.transactionID.rawValue)
            $0.text(purchase.environment.rawValue)
        }) { row in
            GrantHolder(
                userID: UserID(row.text(0)), orderID: row.optionalText(1).map { OrderID($0) },
                eventID: GrantedEvent.id(of: GrantKey(text: row.text(2)).grantID))
        }.first
    }

    func page(_ filter: GrantFilter, before: Int64?, limit: Int) throws -> [GrantRow] {
        var key: String?
        if let grantID = filter.grantID {
            // A grant's id is made from its key, and is looked up through the event that is made from the id.
            key = try OutboxTable(database).grantKey(of: GrantedEvent.id(of: grantID))
            guard key != nil else { return [] }
        }
        var conditions = ["sequence < ?1"]
        // Only the conditions that narrow are part of the statement, so that each finds its index.
        if filter.grantID != nil { conditions.append("grant_key = ?3") }
        if filter.transactionID != nil {
            conditions.append(
                "(transaction_id = ?4 OR original_transaction_id = ?4 AND original_transaction_id <> transaction_id)")
        }
        if filter.userID != nil { conditions.append("user_id = ?5") }
        if filter.bundleID != nil { conditions.append("bundle_id = ?6") }
        // The last clause is always true; it gives the statement all its parameters whatever the filter.
        let statement = try PreparedStatement(
            """
            SELECT \(Self.columns)
            FROM grants WHERE \(conditions.joined(separator: " AND ")) AND coalesce(?3, ?4, ?5, ?6, '') IS NOT NULL
            ORDER BY sequence DESC LIMIT ?2
            """, on: database)
        return try statement.rows(
            {
                $0.integer(before ?? .max)
                $0.integer(Int64(limit))
                $0.text(key)
                $0.text(filter.transactionID?.rawValue)
                $0.text(filter.userID?.rawValue)
                $0.text(filter.bundleID?.rawValue)
            }, read: Self.row)
    }

    /// All rows in ledger order.
    static func rows(_ database: Database, after sequence: Int64, limit: Int) throws -> [GrantRow] {
        let statement = try PreparedStatement(
            "SELECT \(columns) FROM grants WHERE sequence > ? ORDER BY sequence LIMIT ?", on: database)
        return try statement.rows(after: sequence, limit: limit, read: row)
    }

    private static let columns = """
        sequence, grant_key, environment, transaction_id, original_transaction_id, web_order_line_item_id, product_id,
        product_type, quantity, items, purchased_at, expires_at, revoked_at, is_upgraded, ownership, app_account_token,
        submission_id, user_id, bundle_id, order_id, traceparent, verified_by, granted_at
        """

    private static func row(_ row: Columns) throws -> GrantRow {
        let items: [StoredItem] = try JSONText.decode(row.text(9))
        let key = GrantKey(text: row.text(1))
        let grantID = key.grantID
        let purchase = Purchase(
            transactionID: TransactionID(row.text(3)), originalTransactionID: TransactionID(row.text(4)),
            webOrderLineItemID: row.optionalText(5), productID: ProductID(row.text(6)), quantity: Int(row.integer(8)),
            environment: try row.word(2), purchasedAt: row.time(10), expiresAt: row.optionalTime(11),
            revokedAt: row.optionalTime(12), isUpgraded: row.integer(13) != 0, ownership: try row.word(14),
            appAccountToken: row.optionalText(15))
        let claimant = Claimant(
            submissionID: SubmissionID(row.text(16)), userID: UserID(row.text(17)), bundleID: BundleID(row.text(18)),
            orderID: row.optionalText(19).map { OrderID($0) }, traceparent: row.optionalText(20))
        return GrantRow(
            sequence: row.integer(0), grantID: grantID, key: key.text, claimant: claimant,
            granted: GrantablePurchase(
                purchase: purchase, type: try row.word(7),
                items: items.map { Item(item: $0.item, quantity: $0.quantity) }),
            verifiedBy: try row.word(21), grantedAt: row.time(22), eventID: GrantedEvent.id(of: grantID))
    }

    private static func text(of items: [Item]) -> String {
        String(decoding: GrantedEvent.array(of: items), as: UTF8.self)
    }
}
