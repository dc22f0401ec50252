/// How much unfinished work the pipeline holds, and how much more it may take.
///
/// A submission is in the window from the moment its record was read until its outcome is in the ledger. The limits
/// bound memory: when they are reached, reading stops and Kafka is the buffer.
struct Window: Sendable {
    /// Most submissions held at once.
    let maxCount: Int
    /// Most bytes of records held at once; one record is always let in, however large.
    let maxBytes: Int
    /// Fewer submissions than ``maxCount`` while more of them would only wait; nil while they would not.
    private(set) var ceiling: Int?
    private(set) var count = 0
    private(set) var bytes = 0

    init(maxCount: Int, maxBytes: Int) {
        self.maxCount = maxCount
        self.maxBytes = maxBytes
    }

    /// What may be asked of the source now; nil while the window is full.
    var room: (count: Int, bytes: Int)? {
        guard count < limit, bytes < maxBytes else { return nil }
        return (limit - count, maxBytes - bytes)
    }

    private var limit: Int { min(ceiling ?? maxCount, maxCount) }

    mutating func admit(bytes admitted: Int) {
        count += 1
        bytes += admitted
    }

    /// Takes a finished submission out.
    ///
    /// - Returns: whether this made room for a reader that was waiting, worth waking it for. To spare wake-ups
    ///   for single records, a full window reports room once an eighth of it is free.
    mutating func release(bytes released: Int) -> Bool {
        let before = isRoomy
        count -= 1
        bytes -= released
        return !before && isRoomy
    }

    /// Lowers the limit for as long as more submissions would only wait, or lifts it again.
    ///
    /// - Returns: whether there is room for a reader that may be waiting. One that came when the window was full waits for
    ///   an eighth of the limit, and of a limit that is lifted an eighth may be free long since: nothing would wake it.
    mutating func lower(to ceiling: Int?) -> Bool {
        self.ceiling = ceiling.map { max(1, $0) }
        return room != nil
    }

    private var isRoomy: Bool {
        count <= limit - max(1, limit / 8) && bytes <= maxBytes - max(1, maxBytes / 8)
    }
}
