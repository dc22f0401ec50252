/// The records that the owner lets come, against those that have come. Pure.
struct Demand {
    private var allowed: (records: Int64, bytes: Int64) = (0, 0)
    private var given: (records: Int64, bytes: Int64) = (0, 0)

    /// The owner's latest totals, counted from the start.
    mutating func set(records: Int64, bytes: Int64) { allowed = (records, bytes) }

    /// Whether one more record may come, whatever its size.
    var isOpen: Bool { given.records < allowed.records && given.bytes < allowed.bytes }

    mutating func gave(bytes: Int) {
        given.records += 1
        given.bytes += Int64(bytes)
    }
}
