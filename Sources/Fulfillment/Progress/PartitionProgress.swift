/// Which records of one partition are done, and up to where the offset may be committed.
///
/// Records finish in any order; an offset is only ever committed past records that all have an outcome in the ledger. Only
/// those without one are kept, so the ``Window`` bounds the tracker however many finish behind one that waits.
struct PartitionProgress: Sendable {
    /// Offsets of records without an outcome, rising, from `start` on.
    private var open: [Int64] = []
    /// Offsets before this index are done and only wait to be dropped together.
    private var start = 0
    private var lastAdmitted: Int64?

    /// The next offset to read once everything behind it is done; nil while nothing was completed.
    private(set) var watermark: Int64?

    /// Records admitted and without an outcome.
    var unfinished: Int { open.count - start }

    /// Offset of the oldest unfinished record.
    var oldestUnfinished: Int64? { start < open.count ? open[start] : nil }

    /// Notes that a record was read. Records come in rising offset order, so that whatever lies between two of them is not
    /// there to be read.
    ///
    /// - Returns: false for an offset that was admitted before.
    mutating func admit(_ offset: Int64) -> Bool {
        if let lastAdmitted, offset <= lastAdmitted { return false }
        lastAdmitted = offset
        open.append(offset)
        return true
    }

    /// Notes that a record's outcome is in the ledger.
    ///
    /// - Returns: whether the watermark moved.
    mutating func complete(_ offset: Int64) -> Bool {
        let index = place(of: offset)
        guard index < open.count, open[index] == offset else { return false }
        guard index == start else {
            open.remove(at: index)
            return false
        }
        start += 1
        watermark = oldestUnfinished ?? (lastAdmitted ?? offset) + 1
        dropFinished()
        return true
    }

    /// The index of the first offset that is not below the given one.
    private func place(of offset: Int64) -> Int {
        var low = start
        var high = open.count
        while low < high {
            let middle = (low + high) / 2
            if open[middle] < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func dropFinished() {
        // Shifting the array is paid once per many records.
        guard start >= 1024, start * 2 >= open.count else { return }
        open.removeFirst(start)
        start = 0
    }
}
