import GRDB
import Purchases

/// Statements on grants, within one database access.
struct GrantTable {
    private struct StoredItem: Codable {
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
                grant_id, grant_key, environment, transaction_id, original_transaction_id, web_order_line_item_id,
                product_id, product_type, quantity, items, purchased_at, expires_at, revoked_at, is_upgraded, ownership,
                app_account_token, submission_id, user_id, bundle_id, order_id, traceparent, verified_by, granted_at,
                event_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (grant_key) DO NOTHING
            """, on: database)
    }

    /// Adds a grant unless its key is taken.
    ///
    /// - Returns: whether it is new. The unique key decides.
    func insert(_ claim: GrantClaim, claimant: Claimant, now: Timestamp) throws -> Bool {
        let granted = claim.granted
        let purchase = granted.purchase
        let items = try JSONText.encode(granted.items.map { StoredItem(item: $0.item, quantity: $0.quantity) })
        return try insertion.run {
            $0.text(claim.grantID.rawValue)
            $0.text(claim.key.text)
            $0.text(purchase.environment.rawValue)
            $0.text(purchase.transactionID.rawValue)
            $0.text(purchase.originalTransactionID.rawValue)
            $0.text(purchase.webOrderLineItemID)
            $0.text(purchase.productID.rawValue)
            $0.text(granted.type.rawValue)
            $0.integer(Int64(purchase.quantity))
            $0.text(items)
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
            $0.text(claim.event.id.rawValue)
        } > 0
    }

    func holder(of key: GrantKey) throws -> GrantHolder? {
        let statement = try PreparedStatement(
            "SELECT user_id, order_id, event_id FROM grants WHERE grant_key = ?", on: database)
        return try statement.rows({ $0.text(key.text) }) { row in
            GrantHolder(
                userID: UserID(row.text(0)), orderID: row.optionalText(1).map { OrderID($0) },
                eventID: EventID(row.text(2)))
        }.first
    }

    func page(_ filter: GrantFilter, before: Int64?, limit: Int) throws -> [GrantRow] {
        var conditions = ["sequence < ?1"]
        // Only the conditions that narrow are part of the statement, so that each finds its index.
        if filter.grantID != nil { conditions.append("grant_id = ?3") }
        if filter.transactionID != nil {
            conditions.append(
                "(transaction_id = ?4 OR original_transaction_id = ?4 AND original_transaction_id <> transaction_id)")
        }
        if filter.userID != nil { conditions.append("user_id = ?5") }
        if filter.bundleID != nil { conditions.append("bundle_id = ?6") }
        // The last clause is always true; it gives the statement all its parameters whatever the filter.
        let statement = try PreparedStatement(
            """
            SELECT sequence, grant_id, grant_key, environment, transaction_id, original_transaction_id,
                web_order_line_item_id, product_id, product_type, quantity, items, purchased_at, expires_at, revoked_at,
                is_upgraded, ownership, app_account_token, submission_id, user_id, bundle_id, order_id, traceparent,
                verified_by, granted_at, event_id
            FROM grants WHERE \(conditions.joined(separator: " AND ")) AND coalesce(?3, ?4, ?5, ?6, '') IS NOT NULL
            ORDER BY sequence DESC LIMIT ?2
            """, on: database)
        return try statement.rows(
            {
                $0.integer(before ?? .max)
                $0.integer(Int64(limit))
                $0.text(filter.grantID?.rawValue)
                $0.text(filter.transactionID?.rawValue)
                $0.text(filter.userID?.rawValue)
                $0.text(filter.bundleID?.rawValue)
            }, read: Self.row)
    }

    private static func row(_ row: Columns) throws -> GrantRow {
        let items: [StoredItem] = try JSONText.decode(row.text(10))
        let purchase = Purchase(
            transactionID: TransactionID(row.text(4)), originalTransactionID: TransactionID(row.text(5)),
            webOrderLineItemID: row.optionalText(6), productID: ProductID(row.text(7)), quantity: Int(row.integer(9)),
            environment: try row.word(3), purchasedAt: row.time(11), expiresAt: row.optionalTime(12),
            revokedAt: row.optionalTime(13), isUpgraded: row.integer(14) != 0, ownership: try row.word(15),
            appAccountToken: row.optionalText(16))
        let claimant = Claimant(
            submissionID: SubmissionID(row.text(17)), userID: UserID(row.text(18)), bundleID: BundleID(row.text(19)),
            orderID: row.optionalText(20).map { OrderID($0) }, traceparent: row.optionalText(21))
        return GrantRow(
            sequence: row.integer(0), grantID: GrantID(row.text(1)), key: row.text(2), claimant: claimant,
            granted: GrantablePurchase(
                purchase: purchase, type: try row.word(8),
                items: items.map { Item(item: $0.item, quantity: $0.quantity) }),
            verifiedBy: try row.word(22), grantedAt: row.time(23), eventID: EventID(row.text(24)))
    }
}
