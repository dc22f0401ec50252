import Testing

@testable import Fulfillment

/// What ``Progress`` is held against: every record it has ever heard of, looked through each time.
private struct NaiveProgress {
    private struct Seen {
        let ticket: Ticket
        var isDone = false
        /// Read again since, or of an assignment that is over.
        var isVoid = false
    }

    private var epochs: [TopicPartition: UInt64] = [:]
    private var seen: [TopicPartition: [Seen]] = [:]
    /// What was last told or has to be told of a partition.
    private(set) var watermarks: [TopicPartition: Int64] = [:]
    private(set) var changed: Set<TopicPartition> = []

    func isOurs(_ partition: TopicPartition) -> Bool { epochs[partition] != nil }

    mutating func assigned(_ partition: TopicPartition, epoch: UInt64) {
        epochs[partition] = epoch
        seen[partition] = []
        watermarks[partition] = nil
        changed.remove(partition)
    }

    mutating func revoked(_ partition: TopicPartition) -> Int64? {
        epochs[partition] = nil
        seen[partition] = nil
        changed.remove(partition)
        return watermarks.removeValue(forKey: partition)
    }

    mutating func admitted(_ ticket: Ticket) {
        var records = seen[ticket.partition] ?? []
        let goesBack = records.last.map { ticket.offset <= $0.ticket.offset } ?? false
        for index in records.indices where records[index].ticket.offset >= ticket.offset {
            records[index].isVoid = true
        }
        records.append(Seen(ticket: ticket))
        seen[ticket.partition] = records
        if goesBack { note(ticket.partition) }
    }

    mutating func completed(_ ticket: Ticket) {
        guard epochs[ticket.partition] == ticket.epoch,
            let index = seen[ticket.partition]?.firstIndex(where: { $0.ticket == ticket && !$0.isVoid && !$0.isDone })
        else { return }
        let isOldest = ticket.offset == firstOpen(ticket.partition)
        seen[ticket.partition]?[index].isDone = true
        if isOldest { note(ticket.partition) }
    }

    mutating func takeChanged() -> [TopicPartition: Int64] {
        defer { changed = [] }
        return watermarks.filter { changed.contains($0.key) }
    }

    /// Whether a record below the offset has no outcome.
    func isPastUnfinished(_ offset: Int64, of partition: TopicPartition) -> Bool {
        firstOpen(partition).map { $0 < offset } ?? false
    }

    private func firstOpen(_ partition: TopicPartition) -> Int64? {
        seen[partition]?.filter { !$0.isDone && !$0.isVoid }.map(\.ticket.offset).min()
    }

    private mutating func note(_ partition: TopicPartition) {
        watermarks[partition] = firstOpen(partition) ?? (seen[partition]?.last).map { $0.ticket.offset + 1 }
        changed.insert(partition)
    }
}

@Suite("Progress over random events")
struct ProgressModelTests {
    private static let partitions = (0..<4).map { TopicPartition(topic: "in", partition: Int32($0)) }
    private static let events = 6000
    /// Records that the naive model looks through.
    private static let runLength = 250

    @Test("keeps to the naive model, and never passes an unfinished record", arguments: 0..<40)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var progress = Progress()
        var naive = NaiveProgress()
        var epoch: UInt64 = 0
        var offsets: [TopicPartition: Int64] = [:]
        var tickets: [Ticket] = []
        for event in 0..<Self.events {
            let partition = Self.partitions[Int.random(in: 0..<4, using: &generator)]
            // Assignments long enough to be worth it, and of different lengths.
            switch Int.random(in: 0..<Self.runLength, using: &generator) {
            case 0..<3:
                epoch += 1
                progress.assigned(partition, epoch: epoch)
                naive.assigned(partition, epoch: epoch)
                offsets[partition] = Int64.random(in: 0..<50, using: &generator)
            case 3..<5:
                let offset = progress.revoked(partition)
                #expect(offset == naive.revoked(partition))
            case 5..<7:
                offsets[partition] = Int64.random(in: 0..<80, using: &generator)
            case 7..<120:
                let offset = (offsets[partition] ?? 0) + Int64.random(in: 1...3, using: &generator)
                offsets[partition] = offset
                let admission = progress.admit(offset, of: partition, at: .seconds(event))
                #expect((admission != nil) == naive.isOurs(partition))
                guard let admission else { continue }
                naive.admitted(admission.ticket)
                tickets.append(admission.ticket)
            default:
                guard !tickets.isEmpty else { continue }
                // Any order; late ones of assignments that are over, and some twice.
                let index = Int.random(in: 0..<tickets.count, using: &generator)
                let isKept = Int.random(in: 0..<10, using: &generator) == 0
                let ticket = isKept ? tickets[index] : tickets.remove(at: index)
                progress.complete(ticket)
                naive.completed(ticket)
            }
            guard event % 3 == 0 else { continue }
            let moved = progress.takeMoved()
            #expect(moved.mapValues(\.offset) == naive.takeChanged())
            for (partition, mark) in moved {
                let isPast = naive.isPastUnfinished(mark.offset, of: partition)
                #expect(!isPast)
            }
        }
    }
}
