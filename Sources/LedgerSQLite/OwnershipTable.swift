import Contract
import Ledger

/// Statements on `partitions`, within one transaction.
struct OwnershipTable {
    let database: Database

    /// The number by which rows name a partition; a partition that nobody has taken over gets one as well.
    func number(_ partition: TopicPartition) throws(StoreError) -> Int64 {
        if let number = try known(partition) { return number }
        try database.statement("INSERT INTO partitions (topic, partition) VALUES (?, ?)").run {
            $0.partition(partition)
        }
        return try known(partition) ?? 0
    }

    func known(_ partition: TopicPartition) throws(StoreError) -> Int64? {
        try database.statement("SELECT number FROM partitions WHERE topic = ? AND partition = ?").first {
            $0.partition(partition)
        } read: {
            $0.integer(0)
        }
    }

    func isOwned(_ ownership: PartitionOwnership) throws(StoreError) -> Bool {
        try database.statement("SELECT 1 FROM partitions WHERE topic = ? AND partition = ? AND generation = ?").hasRow {
            $0.ownership(ownership)
        }
    }

    /// - Returns: Nil where the ledger does not know the partition although the group does.
    func takeOver(_ request: TakeOver, isAccepted: Bool) throws(StoreError) -> PartitionStart? {
        let partition = request.ownership.partition
        let isNew = try known(partition) == nil
        if isNew, request.committed != nil, !isAccepted { return nil }
        let number = try number(partition)
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
        if isNew {
            // A partition that an operator accepted begins at the group's offset.
            try database.statement("UPDATE partitions SET next_offset = ? WHERE number = ?").run {
                $0.integer(request.committed)
                $0.integer(number)
            }
        }
        let highest = try highestOrigin(number)
        return try database.statement(
            "SELECT next_offset, starts, suspect_offset, suspect_ends FROM partitions WHERE number = ?"
        ).first {
            $0.integer(number)
        } read: { row in
            let suspect = row.optionalInteger(2).map { CheckSuspect(offset: $0, ends: row.int(3)) }
            return PartitionStart(
                next: row.optionalInteger(0), highestOrigin: highest, starts: row.int(1), suspect: suspect)
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
                starts = iif(next_offset IS ?1 AND ?1 IS NOT NULL, starts, 0),
                marked_offset = iif(marked_offset < ?1, NULL, marked_offset),
                suspect_offset = iif(suspect_offset < ?1, NULL, suspect_offset), 
                next_offset = coalesce(?1, next_offset)
            WHERE topic = ?2 AND partition = ?3 AND generation = ?4
            """
        ).run {
            $0.integer(note.next)
            $0.ownership(note.ownership)
        } > 0
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

/// Statements on `ledger` and `operator_actions`, within one transaction.
struct OperatorTable {
    let database: Database

    func identity() throws(StoreError) -> String {
        guard let id = try database.text("SELECT id FROM ledger") else { throw .contradiction("the ledger has no id") }
        return id
    }

    func isAccepted() throws(StoreError) -> Bool {
        try database.number("SELECT count(*) FROM ledger WHERE accepted_at IS NOT NULL") > 0
    }

    func accept(at moment: Timestamp) throws(StoreError) {
        try database.statement("UPDATE ledger SET accepted_at = ?").run { $0.time(moment) }
    }

    func add(_ kind: OperatorAction.Kind, _ note: OperatorNote, on key: SubmissionKey?) throws(StoreError) {
        try database.statement(
            """
            INSERT INTO operator_actions (kind, actor, reason, done_at, app, submission_id) VALUES (?, ?, ?, ?, ?, ?)
            """
        ).run {
            $0.text(kind.rawValue)
            $0.text(note.actor)
            $0.text(note.reason)
            $0.time(note.at)
            $0.text(key?.bundleID)
            $0.text(key?.submissionID)
        }
    }

    func actions(on key: SubmissionKey?) throws(StoreError) -> [OperatorAction] {
        try database.statement(
            """
            SELECT kind, actor, reason, done_at FROM operator_actions
            WHERE submission_id IS ? AND app IS ? ORDER BY sequence
            """
        ).rows {
            $0.text(key?.submissionID)
            $0.text(key?.bundleID)
        } read: { (row) throws(StoreError) -> OperatorAction? in
            guard let kind = OperatorAction.Kind(rawValue: row.text(0)) else { return nil }
            return OperatorAction(
                kind: kind, note: OperatorNote(actor: row.text(1), reason: row.text(2), at: row.time(3)),
                submission: key)
        }.compactMap { $0 }
    }
}
