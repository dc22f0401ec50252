/// Records taken from librdkafka and not yet handed over: never more than one demand asked for, and one besides.
struct RecordBuffer {
    private var records: [KafkaRecord] = []
    private var bytes = 0

    var isEmpty: Bool { records.isEmpty }

    /// Whether one more record could still be handed over with those already here.
    func wantsMore(maxRecords: Int, maxBytes: Int) -> Bool {
        records.isEmpty || (records.count < maxRecords && bytes < maxBytes)
    }

    mutating func append(_ record: KafkaRecord) {
        records.append(record)
        bytes += record.byteCount
    }

    /// As many as both limits allow, but at least one: a single record may be larger than `maxBytes`.
    mutating func take(maxRecords: Int, maxBytes: Int) -> [KafkaRecord] {
        var count = 0
        var taken = 0
        for record in records.prefix(maxRecords) {
            let size = record.byteCount
            guard count == 0 || taken + size <= maxBytes else { break }
            count += 1
            taken += size
        }
        let batch = Array(records.prefix(count))
        records.removeFirst(count)
        bytes -= taken
        return batch
    }

    /// Takes back a batch that reached nobody.
    mutating func putBack(_ batch: [KafkaRecord]) {
        records.insert(contentsOf: batch, at: 0)
        bytes += batch.reduce(0) { $0 + $1.byteCount }
    }

    /// - Returns: how many were dropped.
    mutating func drop(_ partitions: some Collection<KafkaPartition>) -> Int {
        let gone = Set(partitions)
        let before = records.count
        records.removeAll { gone.contains($0.partition) }
        bytes = records.reduce(0) { $0 + $1.byteCount }
        return before - records.count
    }
}
