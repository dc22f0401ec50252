import Purchases

/// People's questions about grants.
enum GrantPage {
    private struct StoredItem: Decodable {
        let item: String
        let quantity: Int
    }

    /// - Parameter key: of the grant whose id the filter names.
    static func read(_ filter: GrantFilter, key: String?, before: Int64?, limit: Int) -> PostgresCommand {
        var conditions = PageConditions(before: before, limit: limit)
        conditions.add("grant_key = $", key)
        conditions.add(
            "(transaction_id = $ OR original_transaction_id = $ AND original_transaction_id <> transaction_id)",
            filter.transactionID?.rawValue)
        conditions.add("user_id = $", filter.userID?.rawValue)
        conditions.add("bundle_id = $", filter.bundleID?.rawValue)
        return conditions.command(
            "SELECT \(columns) FROM grants")
    }

    private static let columns = """
        sequence, grant_key, environment, transaction_id, original_transaction_id, web_order_line_item_id, product_id,
        product_type, quantity, items, purchased_at, expires_at, revoked_at, is_upgraded, ownership, app_account_token,
        submission_id, user_id, bundle_id, order_id, traceparent, verified_by, granted_at
        """

    /// All rows in ledger order.
    static func read(after sequence: Int64, limit: Int) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: """
                    SELECT \(columns) FROM grants
                    WHERE sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint
                    """), [.integer(sequence), .integer(Int64(limit))])
    }

    static func row(_ row: PostgresRow) throws(PostgresFailure) -> GrantRow {
        let items: [StoredItem]
        do throws(LedgerError) {
            items = try JSONText.decode(row.optionalText(9) ?? "")
        } catch {
            throw .damaged("a grant's items cannot be read")
        }
        let key = GrantKey(text: try row.text(1))
        let grantID = key.grantID
        let purchase = Purchase(
            transactionID: TransactionID(try row.text(3)), originalTransactionID: TransactionID(try row.text(4)),
            webOrderLineItemID: row.optionalText(5), productID: ProductID(try row.text(6)),
            quantity: Int(try row.integer(8)), environment: try row.word(2), purchasedAt: try row.time(10),
            expiresAt: try row.optionalTime(11), revokedAt: try row.optionalTime(12), isUpgraded: row.boolean(13),
            ownership: try row.word(14), appAccountToken: row.optionalText(15))
        let claimant = Claimant(
            submissionID: SubmissionID(try row.text(16)), userID: UserID(try row.text(17)),
            bundleID: BundleID(try row.text(18)), orderID: row.optionalText(19).map { OrderID($0) },
            traceparent: row.optionalText(20))
        return GrantRow(
            sequence: try row.integer(0), grantID: grantID, key: key.text, claimant: claimant,
            granted: GrantablePurchase(
                purchase: purchase, type: try row.word(7),
                items: items.map { Item(item: $0.item, quantity: $0.quantity) }),
            verifiedBy: try row.word(21), grantedAt: try row.time(22), eventID: GrantedEvent.id(of: grantID))
    }
}
