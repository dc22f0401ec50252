import Contract
import Kafka

/// Which records are read, and which cannot be, because they have left their topics again.
struct AuditReading {
    private(set) var stretches: [TopicPartition: Range<Int64>] = [:]
    private(set) var retained: [EventTable: Timestamp] = [:]
    private(set) var unseen: [Unseen] = []
    /// Topics whose oldest records cannot be read.
    private(set) var unreadable: [(topic: Topic, error: KafkaError)] = []
    /// Records of the input topic that are not complete.
    private(set) var open = 0
    /// The time of the first of them.
    private(set) var oldestOpen: Timestamp?
    private var openStretches: [TopicPartition: Range<Int64>] = [:]

    init(
        _ topics: any AuditedTopics, _ held: [TopicPartition: Range<Int64>], _ kinds: [TopicPartition: Topic],
        passed: [TopicPartition: Int64], judged: [TopicPartition: Int64], since: Timestamp?, now: Timestamp
    ) throws(AuditError) {
        do throws(KafkaError) {
            var starts: [TopicPartition: Int64] = [:]
            if let since {
                // An event is on its topic a little later than its row was decided, and clocks differ.
                let first = since.advanced(by: .zero - AuditLimits.tolerance)
                starts = try topics.offsets(at: first, in: held.keys.sorted())
                for (partition, offsets) in held where starts[partition] == nil {
                    starts[partition] = offsets.upperBound
                }
                // Where records come from has no part in what was quarantined lately.
                for (partition, topic) in kinds where topic == .quarantined { starts[partition] = nil }
            }
            let firsts = Dictionary(
                uniqueKeysWithValues: held.map { partition, offsets in
                    (partition, max(offsets.lowerBound, starts[partition] ?? offsets.lowerBound))
                })
            // Nothing has left the stretch that is looked at if an older record is still there.
            let cut = held.filter { $0.value.lowerBound > 0 && firsts[$0.key] == $0.value.lowerBound }
            let oldest = try oldestTimes(topics, of: cut, kinds)
            for (partition, offsets) in held.sorted(by: { $0.key < $1.key }) {
                let start = firsts[partition] ?? offsets.lowerBound
                guard kinds[partition] == .submitted else {
                    stretches[partition] = start..<max(start, offsets.upperBound)
                    continue
                }
                // Nobody knows how young the last one was that left an empty partition. The topic's retention may have
                // been shorter at that time, and no record that nobody has looked at counts as judged.
                let gone = cut[partition] == nil ? nil : oldest[partition] ?? now
                // A topic that was made anew counts from 0 again, so what is passed there is less.
                let isJudged =
                    judged[partition].map { offsets.lowerBound <= $0 && $0 <= passed[partition] ?? 0 } ?? false
                take(
                    input: partition, offsets, start: start, passed: passed[partition], gone: isJudged ? nil : gone,
                    since)
            }
            for table in EventTable.allCases {
                let left = cut.keys.filter { kinds[$0] == table.topic }
                guard let name = left.first?.topic else { continue }
                retained[table] = try topics.retained(of: name, left.map { oldest[$0] }, now: now)
            }
            oldestOpen = try oldestTimes(topics, of: openStretches, kinds).values.min()
        } catch {
            throw .kafka(error)
        }
        let inputs = kinds.filter { $0.value == .submitted }.keys
        if let name = inputs.first?.topic, open > 0, inputs.allSatisfy({ passed[$0] == nil }) {
            unseen.append(Unseen(.neverRead, name, count: open, detail: "Is it the workers' group?"))
        }
    }

    /// No times for a topic that cannot be read.
    private mutating func oldestTimes(
        _ topics: any AuditedTopics, of stretches: [TopicPartition: Range<Int64>], _ kinds: [TopicPartition: Topic]
    ) throws(KafkaError) -> [TopicPartition: Timestamp] {
        var times: [TopicPartition: Timestamp] = [:]
        for topic in AuditPlan.audited {
            do throws(KafkaError) {
                let found = try topics.oldestTimes(of: stretches.filter { kinds[$0.key] == topic })
                times.merge(found) { first, _ in first }
            } catch {
                guard error.isOneTopics else { throw error }
                unreadable.append((topic, error))
            }
        }
        return times
    }

    private mutating func take(
        input partition: TopicPartition, _ offsets: Range<Int64>, start: Int64, passed: Int64?, gone: Timestamp?,
        _ since: Timestamp?
    ) {
        guard passed ?? 0 <= offsets.upperBound else {
            unseen.append(
                Unseen(
                    .madeAnew, "\(partition)",
                    detail: "It ends at \(offsets.upperBound), and was passed up to \(passed ?? 0)."))
            return
        }
        let end = passed ?? start
        stretches[partition] = start..<max(start, end)
        let firstOpen = max(passed ?? offsets.lowerBound, offsets.lowerBound)
        open += Int(offsets.upperBound - firstOpen)
        openStretches[partition] = firstOpen..<offsets.upperBound
        if let passed, passed < offsets.lowerBound {
            unseen.append(
                Unseen(
                    .removed, "\(partition)", count: Int(offsets.lowerBound - passed),
                    detail: "These left the topic before they were complete: nobody has decided them."))
        } else if let gone, since.map({ gone > $0 }) ?? true {
            unseen.append(
                Unseen(
                    .removed, "\(partition)", count: since == nil ? Int(offsets.lowerBound) : nil,
                    detail: "Its oldest record is of \(gone)."))
        }
    }
}
