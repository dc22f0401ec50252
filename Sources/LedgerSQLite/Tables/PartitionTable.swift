import Contract
import Ledger

/// Statements on `partitions`, within one transaction.
struct PartitionTable {
    let database: Database

    /// The number by which rows name a partition; a partition that nobody has taken over gets one as well.
    func number(_ partition: TopicPartition) throws(StoreError) -> Int64 {
        if let number = try known(partition) { return number }
        try database.statement("INSERT INTO partitions (topic, partition) VALUES (?, ?)").run {
            $0.text(partition.topic)
            $0.integer(Int64(partition.partition))
        }
        return try known(partition) ?? 0
    }

    func known(_ partition: TopicPartition) throws(StoreError) -> Int64? {
        try database.statement("SELECT number FROM partitions WHERE topic = ? AND partition = ?").first {
            $0.text(partition.topic)
            $0.integer(Int64(partition.partition))
        } read: {
            $0.integer(0)
        }
    }

    func isOwned(_ ownership: PartitionOwnership) throws(StoreError) -> Bool {
        try database.statement("SELECT 1 FROM partitions WHERE topic = ? AND partition = ? AND generation = ?").first {
            $0.text(ownership.partition.topic)
            $0.integer(Int64(ownership.partition.partition))
            $0.integer(ownership.generation.rawValue)
        } read: { _ in
            true
        } ?? false
    }

    /// - Returns: Nil where the ledger does not know the partition although the group does.
    func takeOver(_ request: TakeOver, isAccepted: Bool) throws(StoreError) -> PartitionStart? {
        let partition = request.ownership.partition
        if try known(partition) == nil, request.committed != nil, !isAccepted { return nil }
        let number = try number(partition)
        try database.statement(
            "UPDATE partitions SET owner = ?, generation = ?, starts = starts + 1 WHERE number = ?"
        ).run {
            $0.text(request.owner)
            $0.integer(request.ownership.generation.rawValue)
            $0.integer(number)
        }
        let highest = try highestOrigin(number)
        return try database.statement(
            "SELECT next_offset, starts, marked_offset FROM partitions WHERE number = ?"
        ).first {
            $0.integer(number)
        } read: { row in
            let next = row.optionalInteger(0)
            let marked = row.optionalInteger(2).flatMap { $0 >= next ?? .min ? $0 : nil }
            return PartitionStart(next: next, highestOrigin: highest, starts: row.int(1), marked: marked)
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
    func note(_ note: OffsetNote) throws(StoreError) -> Bool {
        try database.statement(
            """
            UPDATE partitions SET
                starts = iif(next_offset IS ?1, starts, 0), marked_offset = iif(marked_offset < ?1, NULL, marked_offset),
                next_offset = ?1
            WHERE topic = ?2 AND partition = ?3 AND generation = ?4
            """
        ).run {
            $0.integer(note.next)
            $0.text(note.ownership.partition.topic)
            $0.integer(Int64(note.ownership.partition.partition))
            $0.integer(note.ownership.generation.rawValue)
        } > 0
    }

    /// - Returns: Whether the partition still belongs to its generation.
    func mark(_ mark: CheckMark) throws(StoreError) -> Bool {
        try database.statement(
            "UPDATE partitions SET marked_offset = ? WHERE topic = ? AND partition = ? AND generation = ?"
        ).run {
            $0.integer(mark.offset)
            $0.text(mark.ownership.partition.topic)
            $0.integer(Int64(mark.ownership.partition.partition))
            $0.integer(mark.ownership.generation.rawValue)
        } > 0
    }
}
