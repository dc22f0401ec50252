import Scheduling

/// Up to where the records of one partition are complete, under one assignment.
///
/// Records complete in any order; the watermark only passes offsets below which everything is complete. Offsets rise.
/// Missing offsets in between are no records: control records of transactions, or compacted away.
struct OffsetTracker: Sendable {
    private struct Record: Sendable {
        let offset: Int64
        var isComplete: Bool
    }

    /// From the first incomplete record on.
    private var records = FIFO<Record>()
    /// Records that left ``records``: a record's number is this and its index there.
    private var passed: UInt64 = 0
    /// Of the record that was registered last.
    private(set) var last: Int64?
    /// The first offset that is not complete; nil before the first record, and before ``begin(at:)``.
    private(set) var watermark: Int64?
    /// Records registered and not complete.
    private(set) var incomplete = 0

    /// Records from the first incomplete one to the last one. An incomplete record keeps all records behind it here, so
    /// reading stops at a bound.
    var span: Int { records.count }

    /// Whether offsets rise, from the last registered one on. Else the topic was made anew, or lost its end.
    func rises(_ offsets: some Sequence<Int64>) -> Bool {
        var before = last ?? .min
        for offset in offsets {
            guard offset > before else { return false }
            before = offset
        }
        return true
    }

    /// Registers a record that was read.
    /// - Returns: its number, to complete it by; nil if its offset does not rise.
    mutating func register(_ offset: Int64) -> UInt64? {
        if let last, offset <= last { return nil }
        last = offset
        if incomplete == 0 { watermark = offset }
        records.append(Record(offset: offset, isComplete: false))
        incomplete += 1
        return passed + UInt64(records.count - 1)
    }

    /// Nothing before an offset comes, although no record was read.
    /// - Returns: whether that is news: it says nothing behind a record.
    mutating func begin(at offset: Int64) -> Bool {
        guard last == nil else { return false }
        watermark = offset
        return true
    }

    /// Whether a record that was read under this assignment, or stands before all of these, is complete.
    func isComplete(_ offset: Int64) -> Bool {
        guard let watermark, offset >= watermark else { return watermark != nil }
        return (0..<records.count).contains { records[$0].offset == offset && records[$0].isComplete }
    }

    /// Marks a record complete; harmless for one that was before.
    /// - Returns: whether the watermark moved.
    @discardableResult
    mutating func complete(_ number: UInt64) -> Bool {
        guard number >= passed, number - passed < UInt64(records.count) else { return false }
        let index = Int(number - passed)
        guard !records[index].isComplete else { return false }
        records[index].isComplete = true
        incomplete -= 1
        guard index == 0 else { return false }
        while let first = records.first, first.isComplete {
            _ = records.popFirst()
            passed += 1
        }
        watermark = records.first?.offset ?? last.map { $0 + 1 }
        return true
    }
}
