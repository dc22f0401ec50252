import Purchases

/// Statements on the relay. Leases run by the database's clock: workers' clocks may differ.
enum RelayRows {
    private static let taking = PostgresStatement(
        "take_relay",
        """
        UPDATE outbox_relay
        SET holder = $1::text, held_until = clock_timestamp() + $2::bigint * interval '1 millisecond'
        WHERE holder IS NULL OR holder = $1::text OR held_until <= clock_timestamp()
        RETURNING published_through
        """)

    private static let leaving = PostgresStatement(
        "leave_relay", "UPDATE outbox_relay SET holder = NULL, held_until = NULL WHERE holder = $1::text")

    // One statement, so that a worker that is stopped halfway keeps nobody waiting. Its parts all see the tables as they
    // were before it, which is why what is withheld or released with it is named again where copies are removed.
    private static let noting = PostgresStatement(
        "note_published",
        """
        WITH mine AS (
            UPDATE outbox_relay
            SET published_through = greatest(published_through, $2::bigint),
                held_until = clock_timestamp() + $3::bigint * interval '1 millisecond'
            WHERE holder = $1::text AND $2::bigint <= (SELECT last_sequence FROM outbox_head)
            RETURNING published_through
        ), withholding AS (
            INSERT INTO withheld (sequence)
            SELECT s.sequence FROM mine, unnest($4::bigint[]) AS s (sequence) ON CONFLICT DO NOTHING
        ), releasing AS (
            DELETE FROM withheld USING mine WHERE sequence = ANY($5::bigint[])
        ), removing AS (
            DELETE FROM outbox o USING mine
            WHERE o.copy_of IS NOT NULL AND o.sequence <= $2::bigint AND o.sequence <> ALL($4::bigint[])
                AND NOT EXISTS (
                    SELECT FROM withheld w WHERE w.sequence = o.sequence AND w.sequence <> ALL($5::bigint[]))
        ), dating AS (
            INSERT INTO publications (second, through, published_at)
            SELECT $6::bigint / 1000, published_through, $6::bigint FROM mine
            ON CONFLICT (second) DO UPDATE
            SET through = greatest(publications.through, excluded.through), published_at = excluded.published_at
        )
        SELECT (SELECT count(*) FROM mine), $2::bigint <= (SELECT last_sequence FROM outbox_head)
        """)

    static func take(_ worker: WorkerID, for lease: Duration) -> PostgresCommand {
        PostgresCommand(taking, [.text(worker.text), .integer(lease.wholeMilliseconds)])
    }

    /// Up to where the outbox is published, if ``take(_:for:)`` took the relay.
    static func publishedThrough(_ result: PostgresResult) throws(PostgresFailure) -> Int64? {
        try result.rows { row throws(PostgresFailure) in try row.integer(0) }.first
    }

    static func leave(_ worker: WorkerID) -> PostgresCommand {
        PostgresCommand(leaving, [.text(worker.text)])
    }

    static func note(_ note: RelayNote, by worker: WorkerID, for lease: Duration, now: Timestamp) -> PostgresCommand {
        PostgresCommand(
            noting,
            [
                .text(worker.text), .integer(note.through), .integer(lease.wholeMilliseconds),
                .integers(note.withhold), .integers(note.release), .time(now),
            ])
    }

    /// Whether ``note(_:by:for:now:)`` noted anything.
    static func wasNoted(_ result: PostgresResult) throws(PostgresFailure) -> Bool {
        let answer = try result.rows { row throws(PostgresFailure) in (try row.integer(0) > 0, row.boolean(1)) }.first
        guard let (noted, exists) = answer else { throw .lost("unexpected answer") }
        guard exists else { throw .damaged("entries were published that the outbox does not have") }
        return noted
    }
}
