import Contract
import Ledger
import LedgerModel
import Processing
import Scheduling

/// The input topic: records that producers add and consumers deliver, and offsets that the group has committed.
extension World {
    func produce(_ number: Int) {
        let record = script.records[number]
        guard !isCut(Int(record.partition)) else { return at(milliseconds + 500, .produce(number)) }
        unproduced -= 1
        if chance(options.holes) { kafka.partitions[Int(record.partition)].records.append(SimulatedKafka.hole) }
        kafka.partitions[Int(record.partition)].records.append(number)
        witness.produced(number, at: milliseconds)
        trace?.produced(number, self)
        if let owner = kafka.partitions[Int(record.partition)].owner { wakeConsumer(owner) }
    }

    /// Whether a partition has lost its end, and a worker has not noticed yet.
    private func isCut(_ number: Int) -> Bool {
        guard let cutAt = kafka.partitions[number].cutAt else { return false }
        let next = ledger.tables.next(of: SimulatedKafka.name(Int32(number))) ?? 0
        let isNoticed =
            // Commits that were under way have arrived.
            milliseconds > cutAt + 2000
            && min(kafka.partitions[number].committed ?? 0, next) <= kafka.partitions[number].records.count
            && !lives.contains { $0?.reading.contains { $0.partition == number && $0.isOutOfRange } ?? false }
        if isNoticed { kafka.partitions[number].cutAt = nil }
        return !isNoticed
    }

    func wakeConsumer(_ life: Life) {
        guard life.isAlive, !life.isDelivering else { return }
        life.isDelivering = true
        after(latency(100...3000), .deliver(life))
    }

    func deliver(_ life: Life) {
        life.isDelivering = false
        guard life.isAlive else { return }
        if let until = life.frozenUntil, until > now {
            life.isDelivering = true
            events.insert(.deliver(life), due: until)
            return
        }
        var isLeft = false
        for index in life.reading.indices {
            let partition = kafka.partitions[Int(life.reading[index].partition)]
            let end = Int64(partition.records.count)
            let reading = life.reading[index]
            guard reading.position < end || reading.isOutOfRange, !reading.hasGoneBack else { continue }
            guard life.delivered.records < life.demand.records, life.delivered.bytes < life.demand.bytes else { return }
            guard !reading.isOutOfRange else {
                // librdkafka goes on with the oldest record, which the driver takes for the sign that it is.
                life.reading[index].hasGoneBack = true
                consumerNews(.wentBack(reading.id), life)
                continue
            }
            let most = min(end - reading.position, random(1...20), life.demand.records - life.delivered.records)
            if !isHealthy, chance(options.damagedBatches) {
                life.reading[index].hasGoneBack = true
                consumerNews(.unreadable(reading.id, at: reading.position), life)
                continue
            }
            let batch = (reading.position..<reading.position + most).compactMap { offset -> InputRecord? in
                let number = partition.records[Int(offset)]
                guard number != SimulatedKafka.hole else { return nil }
                return InputRecord(
                    origin: Origin(topic: Script.topic, partition: reading.partition, offset: offset), key: nil,
                    value: SimulatedApple.value(number),
                    timestamp: Timestamp(milliseconds: Self.wallStart + script.records[number].producedAt))
            }
            life.reading[index].position += most
            life.delivered.records += Int64(batch.count)
            life.delivered.bytes += batch.reduce(0) { $0 + Int64($1.byteCount) }
            if !batch.isEmpty { consumerNews(.records(RecordBatch(assignment: reading.id, records: batch)), life) }
            isLeft = isLeft || life.reading[index].position < end
        }
        if isLeft { wakeConsumer(life) }
    }

    /// News of one consumer keep their order.
    func consumerNews(_ input: Input, _ life: Life, after microseconds: ClosedRange<Int64> = 10...2000) {
        life.consumerAt = max(life.consumerAt, after(latency(microseconds)))
        events.insert(.input(life, input), due: life.consumerAt)
    }

    func commit(_ offsets: [CommittedOffset], _ terms: [Int], _ life: Life) {
        for (offset, term) in zip(offsets, terms) {
            let number = Int(offset.partition.partition)
            guard kafka.takesOffsets(of: number, from: life, term: term), let next = offset.offset else { continue }
            kafka.partitions[number].committed = next
        }
    }

    func record(at origin: Origin) -> Int? {
        let records = kafka.partitions[Int(origin.partition)].records
        guard origin.offset >= 0, origin.offset < records.count, records[Int(origin.offset)] >= 0 else { return nil }
        return records[Int(origin.offset)]
    }

    /// Whether an offset has no record, as that of a transaction's marker.
    func isHole(_ origin: Origin) -> Bool {
        let records = kafka.partitions[Int(origin.partition)].records
        return origin.offset >= 0 && origin.offset < records.count && records[Int(origin.offset)] == SimulatedKafka.hole
    }
}
