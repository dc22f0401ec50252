/// How much unfinished work the pipeline holds, and how much more it may take.
///
/// A submission is in the window from the moment its record was read until its outcome is in the ledger. The limits
/// bound memory: when they are reached, reading stops and Kafka is the buffer.
struct Window: Sendable {
    /// Most submissions held at once.
    let maxCount: Int
    /// Most bytes of records held at once; one record is always let in, however large.
    let maxBytes: Int
    private(set) var count = 0
    private(set) var bytes = 0

    init(maxCount: Int, maxBytes: Int) {
        self.maxCount = maxCount
        self.maxBytes = maxBytes
    }

    /// What may be asked of the source now; nil while the window is full.
    var room: (count: Int, bytes: Int)? {
        guard count < maxCount, bytes < maxBytes else { return nil }
        return (maxCount - count, maxBytes - bytes)
    }

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

    private var isRoomy: Bool {
        count <= maxCount - max(1, maxCount / 8) && bytes <= maxBytes - max(1, maxBytes / 8)
    }
}
