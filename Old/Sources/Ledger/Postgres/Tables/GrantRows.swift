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
        ON CONFLICT DO NOTHING
        """)

    /// Of the insertion's values after the moment, in their order.
    private static let elements: [PostgresColumn.Element] = [
        .text, .text, .text, .text, .text, .text, .text, .integer, .text, .integer, .integer, .integer, .integer, .text,
        .text, .text, .text, .text, .text, .text, .text,
    ]

    private static let holding = PostgresStatement(
        "look_up_grants",
        """
        SELECT grant_key, grant_key, user_id, order_id FROM grants WHERE grant_key = ANY($1::text[])
        UNION ALL
        SELECT claim.key, g.grant_key, g.user_id, g.order_id
        FROM unnest($1::text[], $2::text[], $3::text[]) AS claim (key, transaction_id, environment)
        JOIN grants g ON g.transaction_id = claim.transaction_id AND g.environment = claim.environment
            AND g.grant_key <> claim.key
        """)

    /// Adds grants; those whose key is taken, or whose transaction is granted, are passed over. The unique indexes decide.
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

    /// Reads whom purchases were granted to: by their keys, and by their transactions under other keys.
    static func holders(of claims: [GrantClaim]) -> PostgresCommand {
        PostgresCommand(
            holding,
            [
                .texts(claims.map(\.key.text)), .texts(claims.map(\.granted.purchase.transactionID.rawValue)),
                .texts(claims.map(\.granted.purchase.environment.rawValue)),
            ])
    }

    /// What ``holders(of:)`` found, by the claims' keys. Where a purchase has two holders, the one of its own key.
    static func found(_ result: PostgresResult) throws(PostgresFailure) -> [String: GrantHolder] {
        let rows = try result.rows { row throws(PostgresFailure) in
            (
                claim: try row.text(0), key: try row.text(1),
                holder: GrantHolder(
                    userID: UserID(try row.text(2)), orderID: row.optionalText(3).map { OrderID($0) },
                    eventID: GrantedEvent.id(of: GrantKey(text: try row.text(1)).grantID))
            )
        }
        var holders: [String: GrantHolder] = [:]
        for row in rows where row.key == row.claim || holders[row.claim] == nil { holders[row.claim] = row.holder }
        return holders
    }
}
