import Contract
import Ledger
import Processing
import Scheduling

/// The input topic and the group that reads it.
struct SimulatedKafka {
    struct Partition {
        /// Numbers of scripted records, by offset; the last one is never a hole.
        var records: [Int] = []
        var committed: Int64?
        var owner: Life?
        /// Counts its owners: the coordinator refuses what an earlier one commits.
        var term = 0
        /// When it lost its end, until everybody has noticed. Nothing new is produced meanwhile: a consumer that comes
        /// back to an offset that exists again could not tell.
        var cutAt: Int64?
    }

    /// Stands for an offset that has no record.
    static let hole = -1

    var partitions: [Partition]
    /// In the order in which they joined.
    var members: [Life] = []

    init(partitions: Int32) {
        self.partitions = Array(repeating: Partition(), count: Int(partitions))
    }

    static func name(_ partition: Int32) -> TopicPartition {
        TopicPartition(topic: Script.topic, partition: partition)
    }

    /// Gives the partitions to the members anew.
    ///
    /// - Returns: The members that lose and get partitions, by the members' order; losses of the dead are nobody's
    ///   news. A member without one hears so, too.
    mutating func rebalance(_ random: inout SplitMix64) -> (revoked: [(Life, [Int32])], assigned: [(Life, [Int32])]) {
        var revoked: [(Life, [Int32])] = []
        var assigned: [(Life, [Int32])] = []
        let seats = members.shuffled(using: &random)
        for number in partitions.indices {
            let partition = Int32(number)
            let next = seats.isEmpty ? nil : seats[number % seats.count]
            let before = partitions[number].owner
            // Now and then a member loses a partition and gets it again at once.
            guard next !== before || Int.random(in: 0..<4, using: &random) == 0 else { continue }
            if let before { Self.add(partition, for: before, to: &revoked) }
            if let next { Self.add(partition, for: next, to: &assigned) }
            partitions[number].owner = next
            partitions[number].term += 1
        }
        for member in members where !partitions.contains(where: { $0.owner === member }) {
            assigned.append((member, []))
        }
        return (revoked, assigned)
    }

    /// Deletes the topic and makes it anew with the same records, each at another place. The group's offsets go with
    /// it.
    mutating func makeTopicAnew(_ random: inout SplitMix64) {
        let records = partitions.flatMap(\.records).filter { $0 != Self.hole }.shuffled(using: &random)
        for index in partitions.indices {
            partitions[index].records = []
            partitions[index].committed = nil
            partitions[index].cutAt = nil
        }
        for number in records { partitions[Int.random(in: partitions.indices, using: &random)].records.append(number) }
    }

    /// Takes the ends of some partitions.
    ///
    /// - Returns: the partitions, with the number of records that they keep, and those that are gone.
    mutating func cut(at now: Int64, _ random: inout SplitMix64) -> [(partition: Int, kept: Int, gone: [Int])] {
        var cuts: [(partition: Int, kept: Int, gone: [Int])] = []
        for index in partitions.indices where partitions[index].records.count > 1 && Bool.random(using: &random) {
            var kept = Int.random(in: 1..<partitions[index].records.count, using: &random)
            while kept > 0, partitions[index].records[kept - 1] == Self.hole { kept -= 1 }
            guard kept > 0 else { continue }
            cuts.append((index, kept, partitions[index].records[kept...].filter { $0 != Self.hole }))
            partitions[index].records.removeSubrange(kept...)
            partitions[index].cutAt = now
        }
        return cuts
    }

    private static func add(_ partition: Int32, for life: Life, to list: inout [(Life, [Int32])]) {
        if let index = list.firstIndex(where: { $0.0 === life }) {
            list[index].1.append(partition)
        } else {
            list.append((life, [partition]))
        }
    }

    /// The coordinator takes offsets from the owner alone.
    func takesOffsets(of partition: Int, from life: Life, term: Int) -> Bool {
        partitions[partition].owner === life && partitions[partition].term == term
    }

    /// Of other partitions as well, if none of these has one.
    func committed(_ wanted: [TopicPartition]) -> [CommittedOffset] {
        let hasAny = wanted.contains { partitions[Int($0.partition)].committed != nil }
        let asked = hasAny ? wanted : partitions.indices.map { Self.name(Int32($0)) }
        return asked.map { CommittedOffset(partition: $0, offset: partitions[Int($0.partition)].committed) }
    }
}
