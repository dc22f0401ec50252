import Purchases

/// Statements on the outbox.
enum OutboxRows {
    // The lock on the head, taken here, is held until the commit: so sequences rise in the order of commits, without gaps.
    private static let appending = PostgresStatement(
        "append_outbox",
        """
        WITH head AS (
            UPDATE outbox_head SET last_sequence = last_sequence + $1::bigint
            RETURNING last_sequence - $1::bigint AS before
        ), added AS (
            INSERT INTO outbox (sequence, event_id, kind, key, headers, value, grant_key, copy_of)
            SELECT before + generate_series(1, $1::bigint), unnest($2::uuid[]), unnest($3::text[]), unnest($4::bytea[]),
                unnest($5::bytea[]), unnest($6::bytea[]), unnest($7::text[]), unnest($8::uuid[])
            FROM head
        )
        SELECT before FROM head
        """)

    private static let recording = PostgresStatement(
        "insert_quarantines",
        """
        INSERT INTO quarantines (
            quarantined_at, event_id, origin_topic, origin_partition, origin_offset, reason)
        SELECT $1::bigint, * FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
        ON CONFLICT (event_id) DO NOTHING
        """)

    private static let quarantined = PostgresStatement(
        "look_up_quarantines", "SELECT uuid_send(event_id) FROM quarantines WHERE event_id = ANY($1::uuid[])")

    /// Adds entries at the end, in their order.
    static func append(_ entries: [BatchDecision.Entry]) throws(PostgresFailure) -> PostgresCommand {
        var ids = PostgresColumn(.uuid, count: entries.count)
        var kinds = PostgresColumn(.text, count: entries.count)
        var keys = PostgresColumn(.bytes, count: entries.count)
        // Exactly what they need: columns of a megabyte that grow are copied into memory that the kernel has to clear first.
        let sizes = entries.reduce(into: (headers: 0, values: 0)) { sizes, entry in
            sizes.headers += entry.event.map { EventHeaders.size(of: $0.headers) } ?? 0
            sizes.values += entry.event?.value?.count ?? 0
        }
        var headers = PostgresColumn(.bytes, count: entries.count, of: sizes.headers)
        var values = PostgresColumn(.bytes, count: entries.count, of: sizes.values)
        var grants = PostgresColumn(.text, count: entries.count)
        var copies = PostgresColumn(.uuid, count: entries.count)
        for entry in entries {
            var copied: EventID?
            var told: (event: Event, key: GrantKey?)?
            switch entry {
            case .copy(let id): copied = id
            case .event(let event, let key): told = (event, key)
            }
            ids.append(try bytes(told?.event.id))
            kinds.append(told?.event.kind.rawValue)
            keys.append(told?.event.key)
            headers.append((told?.event.headers).map(EventHeaders.encode))
            values.append(told?.event.value)
            grants.append(told?.key?.text)
            copies.append(try bytes(copied))
        }
        return PostgresCommand(
            appending,
            [
                .integer(Int64(entries.count)), ids.value, kinds.value, keys.value, headers.value, values.value,
                grants.value, copies.value,
            ])
    }

    /// The entries of ``append(_:)`` with the sequences they were given; nil if copies are among them.
    static func added(
        _ entries: [BatchDecision.Entry], _ result: PostgresResult
    ) throws(PostgresFailure) -> [OutboxEntry]? {
        let before = try result.rows { row throws(PostgresFailure) in try row.integer(0) }
        guard var sequence = before.first else { throw .damaged("the outbox has no head") }
        var added: [OutboxEntry] = []
        added.reserveCapacity(entries.count)
        for entry in entries {
            guard case .event(let event, _) = entry else { return nil }
            sequence += 1
            added.append(OutboxEntry(sequence: sequence, event: event))
        }
        return added
    }

    /// Notes unreadable records; those seen before are passed over.
    static func insert(_ quarantines: [Quarantine], now: Timestamp) throws(PostgresFailure) -> PostgresCommand {
        var ids = PostgresColumn(.uuid, count: quarantines.count)
        var topics = PostgresColumn(.text, count: quarantines.count)
        var partitions = PostgresColumn(.integer, count: quarantines.count)
        var offsets = PostgresColumn(.integer, count: quarantines.count)
        var reasons = PostgresColumn(.text, count: quarantines.count)
        for quarantine in quarantines {
            ids.append(try bytes(quarantine.event.id))
            topics.append(quarantine.origin.topic)
            partitions.append(Int64(quarantine.origin.partition))
            offsets.append(quarantine.origin.offset)
            reasons.append(quarantine.reason)
        }
        return PostgresCommand(
            recording, [.time(now), ids.value, topics.value, partitions.value, offsets.value, reasons.value])
    }

    /// Reads which of these records were seen before.
    static func quarantined(_ quarantines: [Quarantine]) throws(PostgresFailure) -> PostgresCommand {
        var ids = PostgresColumn(.uuid, count: quarantines.count)
        for quarantine in quarantines { ids.append(try bytes(quarantine.event.id)) }
        return PostgresCommand(quarantined, [ids.value])
    }

    /// What ``quarantined(_:)`` found.
    static func found(_ result: PostgresResult) throws(PostgresFailure) -> [EventID] {
        try result.rows { row throws(PostgresFailure) in EventIDBytes.decode(row.optionalBytes(0) ?? []) }.flatMap {
            $0
        }
    }

    private static func bytes(_ id: EventID?) throws(PostgresFailure) -> [UInt8]? {
        guard let id else { return nil }
        return try EventIDBytes.encoded([id])
    }
}
