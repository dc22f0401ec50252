/// Which records of one partition are done, and up to where the offset may be committed.
///
/// Records finish in any order; an offset is only ever committed past records that all have an outcome in the
/// ledger. The tracker holds one small entry per admitted record, so the ``Window`` bounds it.
struct PartitionProgress: Sendable {
    private struct Entry {
        let offset: Int64
        var isDone: Bool
    }

    /// Admitted records from the first unfinished one on.
    private var entries: [Entry] = []
    /// Entries before this index are behind the watermark and only wait to be dropped together.
    private var start = 0
    /// Ordinal of `entries[0]`.
    private var base = 0

    /// The next offset to read once everything behind it is done; nil while nothing was completed.
    private(set) var watermark: Int64?

    /// Records admitted and not behind the watermark.
    var unfinished: Int { entries.count - start }

    /// Offset of the oldest unfinished record.
    var oldestUnfinished: Int64? { start < entries.count ? entries[start].offset : nil }

    /// Notes that a record was read. Records come in rising offset order.
    ///
    /// - Returns: the record's ordinal, to complete it by; nil for an offset that was admitted before.
    mutating func admit(_ offset: Int64) -> Int? {
        if let last = entries.last?.offset ?? watermark.map({ $0 - 1 }), offset <= last { return nil }
        entries.append(Entry(offset: offset, isDone: false))
        return base + entries.count - 1
    }

    /// Notes that a record's outcome is in the ledger.
    ///
    /// - Returns: whether the watermark moved.
    mutating func complete(_ ordinal: Int) -> Bool {
        let index = ordinal - base
        guard entries.indices.contains(index), index >= start, !entries[index].isDone else { return false }
        entries[index].isDone = true
        guard index == start else { return false }
        while start < entries.count, entries[start].isDone {
            watermark = entries[start].offset + 1
            start += 1
        }
        dropFinished()
        return true
    }

    private mutating func dropFinished() {
        // Shifting the array is paid once per many records.
        guard start >= 1024, start * 2 >= entries.count else { return }
        entries.removeFirst(start)
        base += start
        start = 0
    }
}
