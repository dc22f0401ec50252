import Purchases

/// Statements on deliveries. Leases are as in ``WaitingRows``: a due time with a name.
enum DeliveryRows {
    // A batch that takes a purchase for new that was granted before is refused by nothing, so that the numbers of rows tell.
    private static let opening = PostgresStatement(
        "open_deliveries",
        """
        INSERT INTO deliveries (
            opened_at, event_id, grant_key, bundle_id, due_at, holder, joined, event_key, headers, value)
        SELECT $2::bigint, n.event_id, n.grant_key, n.bundle_id, \(LeaseClock.sql("$1")) + n.lease, n.holder, n.joined,
            n.event_key, n.headers, n.value
        FROM unnest($3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::bytea[],
            $10::bytea[], $11::bytea[])
            AS n (event_id, grant_key, bundle_id, lease, holder, joined, event_key, headers, value)
        ON CONFLICT (event_id) DO NOTHING
        """)

    // Locks what it joins until the transaction ends, so that whoever ends the delivery meanwhile waits and sees it.
    private static let joining = PostgresStatement(
        "join_deliveries",
        """
        WITH wanted AS (
            SELECT d.sequence, n.copies FROM unnest($1::uuid[], $2::bigint[]) AS n (event_id, copies)
            JOIN deliveries d ON d.event_id = n.event_id WHERE d.due_at IS NOT NULL
            ORDER BY d.event_id FOR NO KEY UPDATE OF d
        )
        UPDATE deliveries d SET joined = least(d.joined + w.copies, \(Delivery.maxJoined))
        FROM wanted w WHERE d.sequence = w.sequence
        RETURNING uuid_send(d.event_id)
        """)

    private static let taking = PostgresStatement(
        "take_deliveries",
        """
        WITH clock AS MATERIALIZED (
            SELECT \(LeaseClock.sql("$1")) AS now
        ), due AS (
            SELECT d.sequence, d.due_at
            FROM unnest($4::text[], $5::bigint[]) AS n (bundle_id, most)
            CROSS JOIN LATERAL (
                SELECT sequence, due_at FROM deliveries
                WHERE bundle_id = n.bundle_id AND due_at <= (SELECT now FROM clock)
                ORDER BY due_at LIMIT n.most FOR UPDATE SKIP LOCKED
            ) AS d
        ), taken AS (
            UPDATE deliveries d SET holder = $2::text, due_at = (SELECT now FROM clock) + $3::bigint
            FROM due WHERE d.sequence = due.sequence
            RETURNING d.event_id, d.event_key, d.headers, d.value, d.bundle_id, d.grant_key, d.attempts, d.history,
                due.due_at AS was_due
        )
        SELECT uuid_send(event_id), event_key, headers, value, bundle_id, grant_key, attempts, history
        FROM taken ORDER BY was_due
        """)

    private static let keeping = PostgresStatement(
        "keep_deliveries",
        """
        UPDATE deliveries SET due_at = \(LeaseClock.sql("$1")) + $3::bigint
        WHERE holder = $2::text AND event_id = ANY($4::uuid[])
        """)

    // The event's bytes are read before they go: they are in the outbox from now on, in the order of the reports.
    private static let finishing = PostgresStatement(
        "finish_deliveries",
        """
        WITH ended AS (
            SELECT d.sequence, d.event_id, d.event_key, d.headers, d.value, d.grant_key, d.joined, n.attempts, n.history,
                n.place
            FROM unnest($2::uuid[], $3::bigint[], $4::text[]) WITH ORDINALITY AS n (event_id, attempts, history, place)
            JOIN deliveries d ON d.event_id = n.event_id WHERE d.due_at IS NOT NULL
            ORDER BY d.event_id FOR UPDATE OF d
        ), marked AS (
            UPDATE deliveries d SET done_at = $1::bigint, due_at = NULL, holder = NULL, attempts = e.attempts,
                history = e.history, event_key = NULL, headers = NULL, value = NULL
            FROM ended e WHERE d.sequence = e.sequence
        )
        SELECT uuid_send(event_id), event_key, headers, value, grant_key, joined FROM ended ORDER BY place
        """)

    private static let postponing = PostgresStatement(
        "postpone_deliveries",
        """
        UPDATE deliveries d SET due_at = \(LeaseClock.sql("$1")) + n.delay, holder = NULL, attempts = n.attempts,
            history = n.history
        FROM unnest($3::uuid[], $4::bigint[], $5::text[], $6::bigint[]) AS n (event_id, attempts, history, delay)
        WHERE d.event_id = n.event_id AND d.holder = $2::text
        """)

    private static let columns =
        "sequence, uuid_send(event_id), bundle_id, grant_key, opened_at, due_at, holder, done_at, attempts, history"

    /// - Parameter clock: from ``LeaseClock/moment(_:)``.
    static func open(
        _ deliveries: [BatchDecision.Delivery], now: Timestamp, _ clock: PostgresValue
    ) throws(PostgresFailure) -> PostgresCommand {
        let count = deliveries.count
        var (ids, leases) = (PostgresColumn(.uuid, count: count), PostgresColumn(.integer, count: count))
        var (holders, joined) = (PostgresColumn(.text, count: count), PostgresColumn(.integer, count: count))
        var (keys, headers) = (PostgresColumn(.bytes, count: count), PostgresColumn(.bytes, count: count))
        var values = PostgresColumn(.bytes, count: count)
        for delivery in deliveries {
            ids.append(try EventIDBytes.encoded([delivery.claim.event.id]))
            leases.append(delivery.order.lease.wholeMilliseconds)
            holders.append(delivery.order.worker?.text)
            joined.append(Int64(min(delivery.joined, Delivery.maxJoined)))
            keys.append(delivery.claim.event.key)
            headers.append(EventHeaders.encode(delivery.claim.event.headers))
            values.append(delivery.claim.event.value)
        }
        return PostgresCommand(
            opening,
            [
                clock, .time(now), ids.value, .texts(deliveries.map(\.claim.key.text)),
                .texts(deliveries.map(\.bundleID.rawValue)), leases.value, holders.value, joined.value, keys.value,
                headers.value, values.value,
            ])
    }

    /// Whether any delivery is open.
    static let areThere = PostgresCommand(
        PostgresStatement("look_for_deliveries", "SELECT EXISTS (SELECT FROM deliveries WHERE due_at IS NOT NULL)"))

    /// Has submissions answered by events whose deliveries are open.
    static func join(_ copies: [EventID: Int]) throws(PostgresFailure) -> PostgresCommand {
        var ids = PostgresColumn(.uuid, count: copies.count)
        var counts = PostgresColumn(.integer, count: copies.count)
        for (id, count) in copies {
            ids.append(try EventIDBytes.encoded([id]))
            counts.append(Int64(count))
        }
        return PostgresCommand(joining, [ids.value, counts.value])
    }

    /// The events that ``join(_:)`` joined.
    static func joined(_ result: PostgresResult) throws(PostgresFailure) -> Set<EventID> {
        Set(try result.rows { row throws(PostgresFailure) in try id(row, 0) })
    }

    static func take(
        _ worker: WorkerID, _ shares: [DeliveryShare], for lease: Duration, _ clock: PostgresValue
    ) -> PostgresCommand {
        PostgresCommand(
            taking,
            [
                clock, .text(worker.text), .integer(lease.wholeMilliseconds), .texts(shares.map(\.bundleID.rawValue)),
                .integers(shares.map { Int64($0.limit) }),
            ])
    }

    static func taken(_ row: PostgresRow) throws(PostgresFailure) -> Delivery {
        let history = row.optionalText(7)
        return Delivery(
            bundleID: BundleID(try row.text(4)), grantID: GrantKey(text: try row.text(5)).grantID,
            event: try event(row), attempts: Int(try row.integer(6)),
            history: try stored { () throws(LedgerError) in try StoredHistory.history(history) })
    }

    static func keep(
        _ events: [EventID], _ worker: WorkerID, for lease: Duration, _ clock: PostgresValue
    ) throws(PostgresFailure) -> PostgresCommand {
        PostgresCommand(
            keeping, [clock, .text(worker.text), .integer(lease.wholeMilliseconds), try uuids(events)])
    }

    /// - Parameter reports: of each delivery one.
    static func finish(_ reports: [DeliveryReport], now: Timestamp) throws(PostgresFailure) -> PostgresCommand {
        PostgresCommand(finishing, [.time(now)] + (try values(reports)))
    }

    /// What ``finish(_:now:)`` ended, as it enters the outbox: each event with the copies that joined it.
    static func finished(_ result: PostgresResult) throws(PostgresFailure) -> [BatchDecision.Entry] {
        try result.rows { row throws(PostgresFailure) -> [BatchDecision.Entry] in
            let event = try event(row)
            return [.event(event, telling: GrantKey(text: try row.text(4)))]
                + Array(repeating: .copy(of: event.id), count: Int(try row.integer(5)))
        }.flatMap { $0 }
    }

    /// - Parameter reports: of deliveries that are to be due again, of each one, with the time until then.
    static func postpone(
        _ reports: [(report: DeliveryReport, delay: Duration)], _ worker: WorkerID, _ clock: PostgresValue
    ) throws(PostgresFailure) -> PostgresCommand {
        PostgresCommand(
            postponing,
            [clock, .text(worker.text)] + (try values(reports.map(\.report)))
                + [.integers(reports.map(\.delay.wholeMilliseconds))])
    }

    static let counts = PostgresCommand(
        PostgresStatement(
            "count_deliveries", "SELECT count(*), min(due_at) FROM deliveries WHERE due_at IS NOT NULL"))

    static func count(_ row: PostgresRow) throws(PostgresFailure) -> DeliveryCounts {
        DeliveryCounts(open: Int(try row.integer(0)), firstDueAt: try row.optionalTime(1))
    }

    static func rows(_ events: [EventID]) throws(PostgresFailure) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: "SELECT \(columns) FROM deliveries WHERE event_id = ANY($1::uuid[]) ORDER BY sequence"),
            [try uuids(events.filter { EventIDBytes.encode($0) != nil })])
    }

    /// All rows in ledger order.
    static func rows(after sequence: Int64, limit: Int) -> PostgresCommand {
        PostgresCommand(
            PostgresStatement(
                once: """
                    SELECT \(columns) FROM deliveries
                    WHERE sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint
                    """), [.integer(sequence), .integer(Int64(limit))])
    }

    static func row(_ row: PostgresRow) throws(PostgresFailure) -> DeliveryRow {
        let dueAt = try row.optionalTime(5)
        let state: DeliveryRow.State =
            if let dueAt {
                .open(dueAt: dueAt, worker: row.optionalText(6).map { WorkerID($0) })
            } else {
                .done(at: try row.time(7))
            }
        let history = row.optionalText(9)
        return DeliveryRow(
            sequence: try row.integer(0), bundleID: BundleID(try row.text(2)),
            grantID: GrantKey(text: try row.text(3)).grantID, eventID: try id(row, 1), openedAt: try row.time(4),
            state: state, attempts: Int(try row.integer(8)),
            history: try stored { () throws(LedgerError) in try StoredHistory.history(history) })
    }

    private static func values(_ reports: [DeliveryReport]) throws(PostgresFailure) -> [PostgresValue] {
        var histories = PostgresColumn(.text, count: reports.count)
        for report in reports {
            histories.append(try stored { () throws(LedgerError) in try StoredHistory.text(of: report.history) })
        }
        return [try uuids(reports.map(\.eventID)), .integers(reports.map { Int64($0.attempts) }), histories.value]
    }

    private static func uuids(_ ids: [EventID]) throws(PostgresFailure) -> PostgresValue {
        var column = PostgresColumn(.uuid, count: ids.count)
        for id in ids { column.append(try EventIDBytes.encoded([id])) }
        return column.value
    }

    /// The event in the first four columns.
    private static func event(_ row: PostgresRow) throws(PostgresFailure) -> Event {
        let headers: [EventHeader]
        do throws(LedgerError) {
            headers = try EventHeaders.decode(row.optionalBytes(2) ?? [])
        } catch {
            throw .damaged("an event's headers cannot be read")
        }
        return Event(
            id: try id(row, 0), kind: .granted, key: row.optionalBytes(1), headers: headers, value: row.optionalBytes(3)
        )
    }

    private static func id(_ row: PostgresRow, _ column: CInt) throws(PostgresFailure) -> EventID {
        guard let id = EventIDBytes.decode(row.optionalBytes(column) ?? []).first else {
            throw .damaged("a delivery has no event")
        }
        return id
    }
}
