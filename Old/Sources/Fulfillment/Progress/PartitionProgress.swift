/// Which records of one partition are done, and up to where the offset may be committed.
///
/// Records finish in any order; an offset is only ever committed past records that all have an outcome in the ledger. Only
/// those without one are kept, so the ``Window`` bounds the tracker however many finish behind one that waits.
struct PartitionProgress: Sendable {
    /// How a record was taken in.
    struct Admission: Hashable, Sendable {
        /// Which pass over the partition it was read in, to be named with the offset when it is done.
        let pass: UInt64
        /// Whether its offset is not above the one before.
        let wentBack: Bool
    }

    private struct Record {
        let offset: Int64
        let pass: UInt64
        let admittedAt: Duration
    }

    /// Records without an outcome, their offsets rising, from `start` on.
    private var open: [Record] = []
    /// Records before this index are done and only wait to be dropped together.
    private var start = 0
    private(set) var lastAdmitted: Int64?
    private var pass: UInt64 = 0

    /// The next offset to read once everything behind it is done; nil while nothing was completed.
    private(set) var watermark: Int64?

    /// Records admitted and without an outcome.
    var unfinished: Int { open.count - start }

    /// Offset of the oldest unfinished record.
    var oldestUnfinished: Int64? { start < open.count ? open[start].offset : nil }

    /// When the oldest unfinished record was admitted.
    var oldestAdmittedAt: Duration? { start < open.count ? open[start].admittedAt : nil }

    /// Notes that a record was read. Records come in rising offset order, so that whatever lies between two of them is not
    /// there to be read.
    ///
    /// One that does not rise begins another pass: a topic was made anew, lost its end, or is read again. It counts as
    /// any other, because under its offset there may be a purchase that was never seen, and one seen before costs a
    /// question to the ledger. What is still under way at and above this offset moves nothing any more: it comes again,
    /// or is not what is there now. What is under way below it still holds the watermark.
    mutating func admit(_ offset: Int64, at now: Duration = .zero) -> Admission {
        let wentBack = lastAdmitted.map { offset <= $0 } ?? false
        if wentBack { goBack(to: offset) }
        lastAdmitted = offset
        open.append(Record(offset: offset, pass: pass, admittedAt: now))
        return Admission(pass: pass, wentBack: wentBack)
    }

    /// Notes that a record's outcome is in the ledger.
    ///
    /// - Returns: whether the watermark moved.
    mutating func complete(_ offset: Int64, pass: UInt64 = 0) -> Bool {
        let index = place(of: offset)
        guard index < open.count, open[index].offset == offset, open[index].pass == pass else { return false }
        guard index == start else {
            open.remove(at: index)
            return false
        }
        start += 1
        watermark = oldestUnfinished ?? (lastAdmitted ?? offset) + 1
        dropFinished()
        return true
    }

    private mutating func goBack(to offset: Int64) {
        pass += 1
        open.removeSubrange(place(of: offset)...)
        // At once and not with the next completion: an offset that stayed ahead of what is there now would, after a
        // restart, pass over records that nobody has seen.
        watermark = oldestUnfinished ?? offset
    }

    /// The index of the first offset that is not below the given one.
    private func place(of offset: Int64) -> Int {
        var low = start
        var high = open.count
        while low < high {
            let middle = (low + high) / 2
            if open[middle].offset < offset { low = middle + 1 } else { high = middle }
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
