import Contract

/// The writes of this worker that a sample may not have seen. Workers share samples, so one may be a minute old when it
/// comes.
struct Unsampled<Key: Hashable> {
    private struct Entry {
        let number: Int
        var at: Timestamp
        /// No sample was asked for since.
        var isNew = true
    }

    /// A sample that was taken so long after a write has seen it, unless clocks differ by more.
    static var certainty: Duration { .seconds(2) }

    private var entries: [Key: Entry] = [:]
    private var numbers = 0

    /// In the order in which they came first.
    var keys: [Key] { entries.sorted { $0.value.number < $1.value.number }.map(\.key) }

    func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// - Parameter now: By the ledger's clock, as samples have it.
    mutating func add(_ key: Key, at now: Timestamp) {
        let number = entries[key]?.number ?? numbers
        numbers += 1
        entries[key] = Entry(number: number, at: now)
    }

    /// A sample is asked for.
    mutating func sampling() {
        for key in entries.keys { entries[key]?.isNew = false }
    }

    /// A sample is here: what it has seen is forgotten.
    mutating func sampled(takenAt: Timestamp) {
        entries = entries.filter { $0.value.isNew || takenAt < $0.value.at.advanced(by: Self.certainty) }
    }
}
