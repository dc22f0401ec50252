import Purchases

/// Statements on grants, one per batch.
enum GrantRows {
    private static let insertion = PostgresStatement(
        "insert_grants",
        """
        INSERT INTO grants (
            granted_at, grant_key, environment, transaction_id, original_transaction_id, web_order_line_item_id,
            product_id, product_type, quantity, items, purchased_at, expires_at, revoked_at, is_upgraded, ownership,
            app_account_token, submission_id, user_id, bundle_id, order_id, traceparent, verified_by)
        SELECT $1::bigint, unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]),
            unnest($6::text[]), unnest($7::text[]), unnest($8::text[]), unnest($9::bigint[]), unnest($10::text[]),
            unnest($11::bigint[]), unnest($12::bigint[]), unnest($13::bigint[]), unnest($14::bigint[]) <> 0,
            unnest($15::text[]), unnest($16::text[]), unnest($17::text[]), unnest($18::text[]), unnest($19::text[]),
            unnest($20::text[]), unnest($21::text[]), unnest($22::text[])
        ON CONFLICT (grant_key) DO NOTHING
        """)

    /// Of the insertion's values after the moment, in their order.
    private static let elements: [PostgresColumn.Element] = [
        .text, .text, .text, .text, .text, .text, .text, .integer, .text, .integer, .integer, .integer, .integer, .text,
        .text, .text, .text, .text, .text, .text, .text,
    ]

    private static let holding = PostgresStatement(
        "look_up_grants",
        "SELECT grant_key, user_id, order_id FROM grants WHERE grant_key = ANY($1::text[])")

    /// Adds grants; those whose key is taken are passed over. The unique key decides.
    static func insert(_ grants: [BatchDecision.Grant], now: Timestamp) -> PostgresCommand {
        var columns = PostgresColumns(elements, count: grants.count)
        for grant in grants {
            let (claim, claimant) = (grant.claim, grant.claimant)
            let (granted, purchase) = (claim.granted, claim.granted.purchase)
            columns.append(claim.key.text)
            columns.append(purchase.environment.rawValue)
            columns.append(purchase.transactionID.rawValue)
            columns.append(purchase.originalTransactionID.rawValue)
            columns.append(purchase.webOrderLineItemID)
            columns.append(purchase.productID.rawValue)
            columns.append(granted.type.rawValue)
            columns.append(Int64(purchase.quantity))
            columns.append(GrantedEvent.array(of: granted.items))
            columns.append(purchase.purchasedAt)
            columns.append(purchase.expiresAt)
            columns.append(purchase.revokedAt)
            columns.append(purchase.isUpgraded ? 1 : 0)
            columns.append(purchase.ownership.rawValue)
            columns.append(purchase.appAccountToken)
            columns.append(claimant.submissionID.rawValue)
            columns.append(claimant.userID.rawValue)
            columns.append(claimant.bundleID.rawValue)
            columns.append(claimant.orderID?.rawValue)
            columns.append(claimant.traceparent)
            columns.append(claim.verifiedBy.rawValue)
        }
        return PostgresCommand(insertion, [.time(now)] + columns.values)
    }

    /// Reads whom the grants belong to that there are of some keys.
    static func holders(of keys: [GrantKey]) -> PostgresCommand {
        PostgresCommand(holding, [.texts(keys.map(\.text))])
    }

    /// What ``holders(of:)`` found.
    static func found(_ result: PostgresResult) throws(PostgresFailure) -> [(String, GrantHolder)] {
        try result.rows { row throws(PostgresFailure) in
            let key = GrantKey(text: try row.text(0))
            return (
                key.text,
                GrantHolder(
                    userID: UserID(try row.text(1)), orderID: row.optionalText(2).map { OrderID($0) },
                    eventID: GrantedEvent.id(of: key.grantID))
            )
        }
    }
}
