/// Tells when librdkafka is to be reminded that there is room for more records.
///
/// Once it holds what it may, librdkafka before 2.2.0 looks again only when a second is over or something else wakes
/// the thread of the broker (since 2.2.0 `fetch.queue.backoff.ms` says when). A reader that is faster than that would
/// wait for the rest of each second: with 16 MiB of receipts of 11 KB no more than 1,500 a second came, however many it
/// could take.
struct PrefetchRefill {
    /// Half of what librdkafka may hold.
    private let records: Int
    private let bytes: Int
    private var takenRecords = 0
    private var takenBytes = 0

    /// - Parameters:
    ///   - records: How many records librdkafka may hold.
    ///   - bytes: How many bytes it may hold.
    init(records: Int, bytes: Int) {
        self.records = max(1, records / 2)
        self.bytes = max(1, bytes / 2)
    }

    /// A record was taken.
    mutating func took(bytes: Int) {
        takenRecords += 1
        takenBytes += bytes
    }

    /// Whether half has been taken since it was due last; it is not any more, then.
    mutating func isDue() -> Bool {
        guard takenRecords >= records || takenBytes >= bytes else { return false }
        takenRecords = 0
        takenBytes = 0
        return true
    }
}
