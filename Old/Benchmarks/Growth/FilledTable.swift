/// A table of a ledger with many grants in it: rows as a worker writes them for a game's backend, of their usual lengths, and the
/// same on SQLite and PostgreSQL.
struct FilledTable {
    let name: String
    /// The beginning of a statement that reads `i`, the event's `id`, its 16 bytes `id_bytes` and `spread` (all in the order of
    /// `i`), and `mixed` (in none).
    let insertion: String

    /// - Parameters:
    ///   - overriding: What an insertion says that gives sequences out itself.
    ///   - bytes: An expression for the bytes of a text.
    static func all(overriding: String = "", bytes: (_ text: String) -> String) -> [FilledTable] {
        [
            FilledTable(
                name: "submissions",
                insertion: """
                    INSERT INTO submissions (
                        sequence, bundle_id, submission_id, user_id, order_id, fingerprint, outcome, origin_topic,
                        origin_partition, origin_offset, received_at, settled_at, attempts, event_ids)
                    \(overriding)
                    SELECT i, 'com.example.game', spread || '-filled-' || i, 'user-' || mixed || '-' || i,
                        'order-' || mixed || '-' || i, spread || mixed || spread || mixed || spread, 'granted',
                        'receipts.submitted', i % 48, i / 48, 1795000000000 + i, 1795000000000 + i, 1, id_bytes
                    """),
            FilledTable(
                name: "grants",
                insertion: """
                    INSERT INTO grants (
                        sequence, grant_key, environment, transaction_id, original_transaction_id, product_id, product_type,
                        quantity, items, purchased_at, is_upgraded, ownership, submission_id, user_id, bundle_id, order_id,
                        verified_by, granted_at)
                    \(overriding)
                    SELECT i, 'production:t:' || (1000000000000000 + i), 'production',
                        CAST(1000000000000000 + i AS text), CAST(1000000000000000 + i AS text), 'gems', 'consumable', 1,
                        '[{"item":"gems","quantity":1}]', 1795000000000 + i, false, 'purchased',
                        spread || '-filled-' || i, 'user-' || mixed || '-' || i, 'com.example.game',
                        'order-' || mixed || '-' || i, 'signedTransaction', 1795000000000 + i
                    """),
            FilledTable(
                name: "outbox",
                insertion: """
                    INSERT INTO outbox (sequence, event_id, kind, key, headers, value, grant_key)
                    SELECT i, id, 'granted', \(bytes("'user-' || mixed || '-' || i")),
                        \(bytes("'\(String(repeating: "h", count: 200))'")),
                        \(bytes("'\(String(repeating: "v", count: 500))'")),
                        'production:t:' || (1000000000000000 + i)
                    """),
        ]
    }
}
