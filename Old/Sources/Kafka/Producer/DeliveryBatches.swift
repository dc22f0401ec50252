/// The batches whose senders wait, and which results are still missing. Pure; each result counts once.
struct DeliveryBatches {
    /// Names one record of one batch; fits the opaque pointer that librdkafka carries for each message.
    struct Slot: Hashable {
        let batch: UInt32
        let index: UInt32

        init(batch: UInt32, index: UInt32) {
            self.batch = batch
            self.index = index
        }

        init(bits: UInt64) {
            self.init(batch: UInt32(truncatingIfNeeded: bits >> 32), index: UInt32(truncatingIfNeeded: bits))
        }

        /// Never 0, because batches are counted from 1.
        var bits: UInt64 { UInt64(batch) << 32 | UInt64(index) }
    }

    private struct Batch {
        /// The sender's name for it.
        let id: UInt64
        let records: [KafkaProducerRecord]
        var results: [KafkaDelivery?]
        var missing: Int
        let reply: @Sendable ([KafkaDelivery]) -> Void
    }

    private var batches: [UInt32: Batch] = [:]
    private var lastBatch: UInt32 = 0
    /// Records not yet given to librdkafka, in the order of sending; heads of ranges advance.
    private var waiting: [(batch: UInt32, next: Int)] = []
    private var firstWaiting = 0

    var isEmpty: Bool { batches.isEmpty }

    /// Adds a batch of at least one record, under a name that no other has.
    mutating func add(
        _ records: [KafkaProducerRecord], id: UInt64, reply: @escaping @Sendable ([KafkaDelivery]) -> Void
    ) {
        repeat { lastBatch = lastBatch == .max ? 1 : lastBatch + 1 } while batches[lastBatch] != nil
        batches[lastBatch] = Batch(
            id: id, records: records, results: Array(repeating: nil, count: records.count), missing: records.count,
            reply: reply)
        waiting.append((lastBatch, 0))
    }

    /// The next record to give to librdkafka.
    var nextWaiting: (slot: Slot, record: KafkaProducerRecord)? {
        guard firstWaiting < waiting.count, let batch = batches[waiting[firstWaiting].batch] else { return nil }
        let head = waiting[firstWaiting]
        return (Slot(batch: head.batch, index: UInt32(head.next)), batch.records[head.next])
    }

    /// The record that `nextWaiting` showed was taken: by librdkafka, or by a result that follows at once.
    mutating func advance() {
        guard firstWaiting < waiting.count else { return }
        waiting[firstWaiting].next += 1
        guard let batch = batches[waiting[firstWaiting].batch],
            waiting[firstWaiting].next < batch.records.count
        else {
            firstWaiting += 1
            // Amortised: the array is shifted once for every 64 batches.
            if firstWaiting == waiting.count || firstWaiting >= 64 {
                waiting.removeFirst(firstWaiting)
                firstWaiting = 0
            }
            return
        }
    }

    /// The topic of a record whose result is missing.
    func topic(of slot: Slot) -> String? {
        guard let batch = batches[slot.batch], Int(slot.index) < batch.records.count else { return nil }
        return batch.records[Int(slot.index)].topic
    }

    /// Notes a result; the last of a batch answers its sender.
    mutating func resolve(_ slot: Slot, _ delivery: KafkaDelivery) {
        let index = Int(slot.index)
        // Changed in place: taken out and put back, a batch of hundreds would cost two look-ups more for each record.
        guard let place = batches.index(forKey: slot.batch) else { return }
        if index < batches.values[place].results.count, batches.values[place].results[index] == nil {
            batches.values[place].results[index] = delivery
            batches.values[place].missing -= 1
        }
        guard batches.values[place].missing == 0 else { return }
        let batch = batches.remove(at: place).value
        batch.reply(batch.results.compactMap { $0 })
    }

    /// Answers a batch's sender now, with what has come in: a record without a result gets one of these. Results that come
    /// later find nobody. Does nothing if the sender has his answer.
    mutating func giveUp(_ id: UInt64, sent: KafkaDelivery, unsent: KafkaDelivery) {
        guard let (key, batch) = batches.first(where: { $0.value.id == id }) else { return }
        var firstUnsent = batch.records.count
        if let place = waiting[firstWaiting...].firstIndex(where: { $0.batch == key }) {
            firstUnsent = waiting[place].next
            waiting.remove(at: place)
        }
        for index in batch.results.indices where batch.results[index] == nil {
            resolve(Slot(batch: key, index: UInt32(index)), index < firstUnsent ? sent : unsent)
        }
    }

    /// Gives every record that librdkafka holds this result; those still waiting stay.
    mutating func resolveSent(_ delivery: KafkaDelivery) {
        var firstUnsent: [UInt32: Int] = [:]
        for head in waiting[firstWaiting...] { firstUnsent[head.batch] = head.next }
        for (id, batch) in batches.sorted(by: { $0.key < $1.key }) {
            for index in 0..<(firstUnsent[id] ?? batch.records.count) {
                resolve(Slot(batch: id, index: UInt32(index)), delivery)
            }
        }
    }

    /// Gives every record that waits this result.
    mutating func resolveWaiting(_ delivery: KafkaDelivery) {
        while let slot = nextWaiting?.slot {
            advance()
            resolve(slot, delivery)
        }
    }
}
