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
        SELECT $1::bigint, n.key, n.environment, n.transaction_id, n.original_transaction_id, n.line_item, n.product_id,
            n.product_type, n.quantity, n.items, n.purchased_at, n.expires_at, n.revoked_at, n.is_upgraded <> 0,
            n.ownership, n.token, n.submission_id, n.user_id, n.bundle_id, n.order_id, n.traceparent, n.verified_by
        FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[],
            $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[], $16::text[],
            $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[])
            AS n (key, environment, transaction_id, original_transaction_id, line_item, product_id, product_type,
                quantity, items, purchased_at, expires_at, revoked_at, is_upgraded, ownership, token, submission_id,
                user_id, bundle_id, order_id, traceparent, verified_by)
        ON CONFLICT (grant_key) DO NOTHING
        """)

    private static let holding = PostgresStatement(
        "look_up_grants",
        "SELECT grant_key, user_id, order_id FROM grants WHERE grant_key = ANY($1::text[])")

    /// Adds grants; those whose key is taken are passed over. The unique key decides.
    static func insert(_ grants: [BatchDecision.Grant], now: Timestamp) -> PostgresCommand {
        func texts(_ value: (BatchDecision.Grant) -> String?) -> PostgresValue {
            var column = PostgresColumn(.text, count: grants.count)
            for grant in grants { column.append(value(grant)) }
            return column.value
        }
        func integers(_ value: (BatchDecision.Grant) -> Int64?) -> PostgresValue {
            var column = PostgresColumn(.integer, count: grants.count)
            for grant in grants { column.append(value(grant)) }
            return column.value
        }
        func attested(_ value: (Purchase) -> String?) -> PostgresValue { texts { value($0.claim.granted.purchase) } }
        func time(_ value: (Purchase) -> Timestamp?) -> PostgresValue {
            integers { value($0.claim.granted.purchase)?.milliseconds }
        }
        return PostgresCommand(
            insertion,
            [
                .time(now),
                texts { $0.claim.key.text },
                attested { $0.environment.rawValue },
                attested { $0.transactionID.rawValue },
                attested { $0.originalTransactionID.rawValue },
                attested { $0.webOrderLineItemID },
                attested { $0.productID.rawValue },
                texts { $0.claim.granted.type.rawValue },
                integers { Int64($0.claim.granted.purchase.quantity) },
                texts { String(decoding: GrantedEvent.array(of: $0.claim.granted.items), as: UTF8.self) },
                time { $0.purchasedAt },
                time { $0.expiresAt },
                time { $0.revokedAt },
                integers { $0.claim.granted.purchase.isUpgraded ? 1 : 0 },
                attested { $0.ownership.rawValue },
                attested { $0.appAccountToken },
                texts { $0.claimant.submissionID.rawValue },
                texts { $0.claimant.userID.rawValue },
                texts { $0.claimant.bundleID.rawValue },
                texts { $0.claimant.orderID?.rawValue },
                texts { $0.claimant.traceparent },
                texts { $0.claim.verifiedBy.rawValue },
            ])
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
