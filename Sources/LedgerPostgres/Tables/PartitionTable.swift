import Contract
import Ledger

/// Statements on `partitions`, within one transaction.
struct PartitionTable {
    let connection: PostgresConnection

    // MARK: Writing for a partition

    /// The numbers of partitions that belong to these generations. Until the transaction's end nobody can take them
    /// over. Checkpoints that are written meanwhile do not matter.
    func owned(_ ownerships: Set<PartitionOwnership>) throws(PostgresFailure) -> [PartitionOwnership: Int64] {
        guard !ownerships.isEmpty else { return [:] }
        let ownerships = ownerships.sorted { $0.partition < $1.partition }
        let rows = try connection.run(Self.isOwned(ownerships)).rows
        return Dictionary(
            rows.map { (ownerships[$0.int(0)], $0.integer(1)) }, uniquingKeysWith: { first, _ in first })
    }

    private static func isOwned(_ ownerships: [PartitionOwnership]) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT place, partitions.number
            FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS asked (place, t, p, g)
            JOIN partitions ON topic = t AND partition = p AND generation = g
            \(order) FOR KEY SHARE OF partitions
            """
        ) { parameters in
            columns(ownerships).add(to: &parameters)
        }
    }

    /// The one order in which rows of `partitions` are locked.
    static let order = "ORDER BY topic, partition"

    /// Ownerships by their indices, as the statement of a write on the fast path joins them, too.
    static func columns(_ ownerships: [PartitionOwnership]) -> PostgresColumns {
        var columns = PostgresColumns(types: [.integer, .text, .integer, .integer])
        for (place, ownership) in ownerships.enumerated() {
            columns.integer(place)
            columns.ownership(ownership)
        }
        return columns
    }

    /// The numbers by which rows name partitions that are known.
    func numbers(_ partitions: Set<TopicPartition>) throws(PostgresFailure) -> [TopicPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        let partitions = partitions.sorted()
        let statement = PostgresStatement(
            """
            SELECT place, number FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS asked (place, t, p)
            JOIN partitions ON topic = t AND partition = p
            """, each: partitions.enumerated(), [.integer, .text, .integer]
        ) { partition, row in
            row.integer(partition.offset)
            row.partition(partition.element)
        }
        return Dictionary(
            try connection.run(statement).rows.map { (partitions[$0.int(0)], $0.integer(1)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Makes a row where there is none. A row that is there uses up no number.
    private static func make(_ partition: TopicPartition) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO partitions (topic, partition) SELECT $1::text, $2::bigint
            WHERE NOT EXISTS (SELECT 1 FROM partitions WHERE topic = $1::text AND partition = $2::bigint)
            ON CONFLICT (topic, partition) DO NOTHING
            """
        ) { $0.partition(partition) }
    }

    /// The number of a row that stands for no partition of Kafka's; made where there is none.
    func number(making partition: TopicPartition) throws(PostgresFailure) -> [TopicPartition: Int64] {
        try connection.run(Self.make(partition))
        return try numbers([partition])
    }

    // MARK: Taking over

    /// Waits for other take-overs of these topics, and for checkpoints. Writes of their owners go on.
    func lock(_ topics: Set<String>) throws(PostgresFailure) {
        try connection.run(
            PostgresStatement(
                "SELECT 1 FROM partitions WHERE topic = ANY ($1::text[]) \(Self.order) FOR NO KEY UPDATE",
                each: topics, [.text]
            ) { $1.text($0) })
    }

    /// The partitions among these of which the group's offsets stop a worker. The ledger does not know them then, and
    /// none of their topic is there, or one was refused before.
    func refused(_ partitions: Set<TopicPartition>) throws(PostgresFailure) -> Set<TopicPartition> {
        guard !partitions.isEmpty else { return [] }
        let statement = PostgresStatement(
            "\(Self.selection) WHERE topic = ANY ($1::text[])", each: Set(partitions.map(\.topic)), [.text]
        ) { $1.text($0) }
        var known: Set<TopicPartition> = []
        var (checkpointed, stopped): (Set<String>, Set<String>) = ([], [])
        for row in try connection.run(statement).rows {
            let partition = PartitionColumns.partition(row)
            if PartitionColumns.isRefused(row) { stopped.insert(partition.topic) } else { known.insert(partition) }
            if PartitionColumns.next(row) != nil { checkpointed.insert(partition.topic) }
        }
        return partitions.filter {
            !known.contains($0) && (!checkpointed.contains($0.topic) || stopped.contains($0.topic))
        }
    }

    private static let selection = "SELECT \(PartitionColumns.shown) FROM partitions"

    /// - Returns: The start of each partition, but of those that the ledger does not know although the group does.
    ///   Their rows say so from then on.
    func takeOver(_ requests: [TakeOver]) throws(PostgresFailure) -> [TopicPartition: PartitionStart] {
        try lock(Set(requests.map(\.ownership.partition.topic)))
        let refused = try refused(Set(requests.filter(\.isTopicCommitted).map(\.ownership.partition)))
        let requests = requests.sorted { $0.ownership.partition < $1.ownership.partition }
        let taken = requests.filter { !refused.contains($0.ownership.partition) }
        // The highest origins are read by statements after those of the locks: a write that was under way is visible to
        // them.
        let results = try connection.run(
            requests.map { Self.make($0.ownership.partition) } + taken.flatMap(Self.taking)
                + taken.map { Self.start($0.ownership.partition) })
        var starts: [TopicPartition: PartitionStart] = [:]
        for (request, result) in zip(taken, results.suffix(taken.count)) {
            guard let row = result.first else { continue }
            let highest = row.optionalInteger(PartitionColumns.count)
            starts[request.ownership.partition] = PartitionColumns.start(row, highestOrigin: highest)
        }
        return starts
    }

    private static func taking(_ request: TakeOver) -> [PostgresStatement] {
        [
            PostgresStatement(
                "SELECT number FROM partitions WHERE topic = $1::text AND partition = $2::bigint FOR UPDATE"
            ) { $0.partition(request.ownership.partition) },
            PostgresStatement(
                """
                UPDATE partitions SET
                    passed_offset = CASE WHEN passed_offset <= coalesce($5::bigint, passed_offset) THEN NULL
                        ELSE passed_offset END,
                    owner = $4::text, generation = $3::bigint,
                    starts = CASE WHEN generation = $3::bigint THEN starts ELSE starts + 1 END,
                    suspect_ends = CASE
                        WHEN generation = $3::bigint OR marked_offset IS NULL THEN suspect_ends
                        WHEN marked_offset = suspect_offset THEN suspect_ends + 1
                        ELSE 1 END,
                    suspect_offset = CASE WHEN generation = $3::bigint THEN suspect_offset
                        ELSE coalesce(marked_offset, suspect_offset) END,
                    marked_offset = CASE WHEN generation = $3::bigint THEN marked_offset END
                WHERE topic = $1::text AND partition = $2::bigint
                """
            ) {
                $0.ownership(request.ownership)
                $0.text(request.owner)
                $0.integer(request.committed)
            },
        ]
    }

    private static func start(_ partition: TopicPartition) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT \(PartitionColumns.shown), greatest(
                (SELECT max(origin_offset) FROM grants WHERE origin_partition = number),
                (SELECT max(origin_offset) FROM answers WHERE origin_partition = number),
                (SELECT max(origin_offset) FROM retries WHERE origin_partition = number))
            FROM partitions WHERE topic = $1::text AND partition = $2::bigint
            """
        ) { $0.partition(partition) }
    }

    // MARK: Offsets

    static func checkpoint(_ checkpoint: OffsetCheckpoint) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE partitions SET
                starts = CASE WHEN next_offset = $4::bigint THEN starts ELSE 0 END,
                marked_offset = CASE WHEN marked_offset < $4::bigint THEN NULL ELSE marked_offset END,
                suspect_offset = CASE WHEN $4::bigint IS NULL OR suspect_offset < $4::bigint THEN NULL
                    ELSE suspect_offset END,
                passed_offset = CASE WHEN $4::bigint < passed_offset THEN NULL ELSE passed_offset END,
                next_offset = coalesce($4::bigint, next_offset)
            WHERE topic = $1::text AND partition = $2::bigint AND generation = $3::bigint
            """
        ) {
            $0.ownership(checkpoint.ownership)
            $0.integer(checkpoint.next)
        }
    }

    static func mark(_ mark: CheckMark) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE partitions SET
                marked_offset = $4::bigint,
                suspect_offset = CASE WHEN suspect_offset = $5::bigint THEN NULL ELSE suspect_offset END
            WHERE topic = $1::text AND partition = $2::bigint AND generation = $3::bigint
            """
        ) {
            $0.ownership(mark.ownership)
            $0.integer(mark.begins)
            $0.integer(mark.ended)
        }
    }

    // MARK: Operators

    /// Makes the partitions whose offsets stop a worker known, at the group's offsets. Other partitions are known, or
    /// read from the oldest record, and no offset of the group may pass over their records. A refused partition without
    /// an offset is read from the oldest record as well.
    func accept(_ committed: [TopicPartition: Int64]) throws(PostgresFailure) {
        try lock(Set(committed.keys.map(\.topic)))
        let refused = try refused(Set(committed.keys)).sorted()
        // Also for a topic whose committed partitions are all known: another partition of it may stop the workers.
        for topic in Set(committed.keys.map(\.topic)).sorted() {
            try connection.run(
                PostgresStatement(
                    "UPDATE partitions SET next_offset = 0 WHERE topic = $1::text AND \(PartitionColumns.isRefused)"
                ) { $0.text(topic) })
        }
        for partition in refused {
            guard let offset = committed[partition] else { continue }
            try connection.run([Self.make(partition), Self.start(partition, at: offset)])
        }
    }

    /// Ends the ownership of all partitions, whose checkpoints mean nothing any more: each is read from the group's
    /// offset, or from its oldest record.
    func beginAnew(_ committed: [TopicPartition: Int64]) throws(PostgresFailure) {
        let all = """
            UPDATE partitions SET
                owner = NULL, generation = NULL, next_offset = 0, passed_offset = NULL, starts = 0, marked_offset = NULL,
                suspect_offset = NULL, suspect_ends = 0
            WHERE NOT \(PartitionColumns.isImport)
            """
        let locked = PostgresStatement("SELECT 1 FROM partitions \(Self.order) FOR UPDATE")
        try connection.run([locked, PostgresStatement(all)] + committed.sorted { $0.key < $1.key }.map(Self.start))
    }

    private static func start(_ partition: TopicPartition, at offset: Int64) -> PostgresStatement {
        PostgresStatement(
            "UPDATE partitions SET next_offset = $3::bigint WHERE topic = $1::text AND partition = $2::bigint"
        ) {
            $0.partition(partition)
            $0.integer(offset)
        }
    }

    /// Ends a partition's ownership behind passed offsets.
    func pass(_ passed: PassedOffsets) throws(PostgresFailure) -> PassResult {
        let locked = PostgresStatement(
            """
            \(Self.selection) WHERE topic = $1::text AND partition = $2::bigint
                AND NOT \(PartitionColumns.isRefused) FOR UPDATE
            """
        ) { $0.partition(passed.partition) }
        let next = try connection.run(locked).first.flatMap { PartitionColumns.next($0) }
        guard next == passed.offsets.lowerBound else { return .standsAt(next) }
        try connection.run(
            PostgresStatement(
                """
                UPDATE partitions SET
                    owner = NULL, generation = NULL, next_offset = $3::bigint, passed_offset = $3::bigint, starts = 0,
                    marked_offset = NULL, suspect_offset = NULL, suspect_ends = 0
                WHERE topic = $1::text AND partition = $2::bigint
                """
            ) {
                $0.partition(passed.partition)
                $0.integer(passed.next)
            })
        return .passed
    }

    var all: PostgresQuestion<[PartitionRow]> {
        PostgresQuestion(
            PostgresStatement("\(Self.selection) WHERE NOT \(PartitionColumns.isRefused) \(Self.order)")
        ) { $0.rows.map { PartitionColumns.row($0) } }
    }
}

extension OriginRange {
    /// A query for the rows of a table that came from these offsets.
    /// - Parameter selection: Up to its `WHERE`.
    func statement(_ selection: String) -> PostgresStatement {
        PostgresStatement(
            """
            \(selection) origin_offset BETWEEN $3::bigint AND $4::bigint AND origin_partition = (
                SELECT number FROM partitions AS own WHERE own.topic = $1::text AND own.partition = $2::bigint)
            """
        ) {
            $0.partition(partition)
            $0.integer(offsets.lowerBound)
            $0.integer(offsets.upperBound)
        }
    }
}
