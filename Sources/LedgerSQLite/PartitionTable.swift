import Contract
import Ledger

/// Statements on `partitions`, within one transaction.
struct PartitionTable {
    let database: Database

    private static let selection = "SELECT \(PartitionColumns.shown) FROM partitions"

    /// The number by which rows name a partition; a partition that nobody has taken over gets one as well.
    func number(_ partition: TopicPartition) throws(StoreError) -> Int64 {
        if let number = try known(partition) { return number }
        try database.statement("INSERT INTO partitions (topic, partition) VALUES (?, ?)").run {
            $0.partition(partition)
        }
        return try known(partition) ?? 0
    }

    /// Whether the group's offsets of a topic stop a worker. The ledger does not know the partition then, and has none
    /// of its topic, or one was refused before.
    func refuses(_ partition: TopicPartition) throws(StoreError) -> Bool {
        let isKnown = try database.statement(
            "SELECT 1 FROM partitions WHERE topic = ? AND partition = ? AND NOT \(PartitionColumns.isRefused)"
        ).hasRow { $0.partition(partition) }
        guard !isKnown else { return false }
        let isTopicKnown = try database.statement(
            """
            SELECT 1 FROM (
                SELECT count(next_offset) AS known, total(\(PartitionColumns.isRefused)) AS refused
                FROM partitions WHERE topic = ?)
            WHERE known > 0 AND refused = 0
            """
        ).hasRow { $0.text(partition.topic) }
        return !isTopicKnown
    }

    private func known(_ partition: TopicPartition) throws(StoreError) -> Int64? {
        try database.statement("\(Self.selection) WHERE topic = ? AND partition = ?").first {
            $0.partition(partition)
        } read: {
            PartitionColumns.number($0)
        }
    }

    func isOwned(_ ownership: PartitionOwnership) throws(StoreError) -> Bool {
        try database.statement("SELECT 1 FROM partitions WHERE topic = ? AND partition = ? AND generation = ?").hasRow {
            $0.ownership(ownership)
        }
    }

    /// - Returns: Nil where the ledger does not know the partition although the group does. The row says so from then
    ///   on.
    func takeOver(_ request: TakeOver) throws(StoreError) -> PartitionStart? {
        let partition = request.ownership.partition
        let isRefused = request.isTopicCommitted ? try refuses(partition) : false
        let number = try number(partition)
        if isRefused { return nil }
        try database.statement(
            """
            UPDATE partitions SET passed_offset = NULL
            WHERE number = ?1 AND passed_offset <= coalesce(?2, passed_offset)
            """
        ).run {
            $0.integer(number)
            $0.integer(request.committed)
        }
        try database.statement(
            """
            UPDATE partitions SET
                owner = ?1, generation = ?2, starts = starts + 1,
                suspect_ends = CASE
                    WHEN marked_offset IS NULL THEN suspect_ends
                    WHEN marked_offset = suspect_offset THEN suspect_ends + 1
                    ELSE 1 END,
                suspect_offset = coalesce(marked_offset, suspect_offset), marked_offset = NULL
            WHERE number = ?3 AND generation IS NOT ?2
            """
        ).run {
            $0.text(request.owner)
            $0.integer(request.ownership.generation.rawValue)
            $0.integer(number)
        }
        let highest = try highestOrigin(number)
        return try database.statement("\(Self.selection) WHERE number = ?").first {
            $0.integer(number)
        } read: {
            PartitionColumns.start($0, highestOrigin: highest)
        }
    }

    private func highestOrigin(_ number: Int64) throws(StoreError) -> Int64? {
        var highest: Int64?
        for table in ["grants", "answers", "retries"] {
            let offset = try database.statement(
                "SELECT max(origin_offset) FROM \(table) WHERE origin_partition = ?"
            ).first {
                $0.integer(number)
            } read: {
                $0.optionalInteger(0)
            }
            if let offset = offset ?? nil { highest = max(highest ?? offset, offset) }
        }
        return highest
    }

    /// - Returns: Whether the partition still belongs to its generation.
    func checkpoint(_ checkpoint: OffsetCheckpoint) throws(StoreError) -> Bool {
        try database.statement(
            """
            UPDATE partitions SET
                starts = iif(next_offset IS ?1 AND ?1 IS NOT NULL, starts, 0),
                marked_offset = iif(marked_offset < ?1, NULL, marked_offset),
                suspect_offset = iif(?1 IS NULL OR suspect_offset < ?1, NULL, suspect_offset),
                passed_offset = iif(?1 < passed_offset, NULL, passed_offset),
                next_offset = coalesce(?1, next_offset)
            WHERE topic = ?2 AND partition = ?3 AND generation = ?4
            """
        ).run {
            $0.integer(checkpoint.next)
            $0.ownership(checkpoint.ownership)
        } > 0
    }

    /// Makes the partitions whose offsets stop a worker known, at the group's offsets. Other partitions are known, or
    /// read from the oldest record, and no offset of the group may pass over their records. A refused partition without
    /// an offset is read from the oldest record as well.
    func accept(_ committed: [TopicPartition: Int64]) throws(StoreError) {
        var refused: [TopicPartition] = []
        for partition in committed.keys.sorted() where try refuses(partition) { refused.append(partition) }
        // Also for a topic whose committed partitions are all known: another partition of it may stop the workers.
        for topic in Set(committed.keys.map(\.topic)).sorted() {
            try database.statement(
                "UPDATE partitions SET next_offset = 0 WHERE topic = ? AND \(PartitionColumns.isRefused)"
            ).run {
                $0.text(topic)
            }
        }
        for partition in refused {
            let number = try number(partition)
            try database.statement("UPDATE partitions SET next_offset = ? WHERE number = ?").run {
                $0.integer(committed[partition])
                $0.integer(number)
            }
        }
    }

    /// Ends the ownership of all partitions, whose checkpoints mean nothing any more: each is read from the group's
    /// offset, or from its oldest record.
    func beginAnew(_ committed: [TopicPartition: Int64]) throws(StoreError) {
        try database.run(
            """
            UPDATE partitions SET
                owner = NULL, generation = NULL, next_offset = 0, passed_offset = NULL, starts = 0, marked_offset = NULL,
                suspect_offset = NULL, suspect_ends = 0
            WHERE NOT \(PartitionColumns.isImport)
            """)
        for (partition, offset) in committed {
            try database.statement("UPDATE partitions SET next_offset = ? WHERE topic = ? AND partition = ?").run {
                $0.integer(offset)
                $0.partition(partition)
            }
        }
    }

    /// Ends a partition's ownership behind passed offsets.
    func pass(_ passed: PassedOffsets) throws(StoreError) -> PassResult {
        let next = try row(passed.partition)?.next
        guard next == passed.offsets.lowerBound else { return .standsAt(next) }
        try database.statement(
            """
            UPDATE partitions SET
                owner = NULL, generation = NULL, next_offset = ?1, passed_offset = ?1, starts = 0, marked_offset = NULL,
                suspect_offset = NULL, suspect_ends = 0
            WHERE topic = ?2 AND partition = ?3
            """
        ).run {
            $0.integer(passed.next)
            $0.partition(passed.partition)
        }
        return .passed
    }

    func all() throws(StoreError) -> [PartitionRow] {
        try rows("TRUE ORDER BY topic, partition") { _ in }
    }

    private func row(_ partition: TopicPartition) throws(StoreError) -> PartitionRow? {
        try rows("topic = ? AND partition = ?") { $0.partition(partition) }.first
    }

    private func rows(_ condition: String, _ bind: (inout Binder) -> Void) throws(StoreError) -> [PartitionRow] {
        try database.statement("\(Self.selection) WHERE NOT \(PartitionColumns.isRefused) AND \(condition)").rows(bind)
        {
            PartitionColumns.row($0)
        }
    }

    /// - Returns: Whether the partition still belongs to its generation.
    func mark(_ mark: CheckMark) throws(StoreError) -> Bool {
        try database.statement(
            """
            UPDATE partitions SET
                marked_offset = ?1, suspect_offset = iif(suspect_offset = ?2, NULL, suspect_offset)
            WHERE topic = ?3 AND partition = ?4 AND generation = ?5
            """
        ).run {
            $0.integer(mark.begins)
            $0.integer(mark.ended)
            $0.ownership(mark.ownership)
        } > 0
    }
}
