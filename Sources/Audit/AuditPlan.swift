import Contract
import Cryptography
import Kafka
import Ledger

/// Where an audit begins and ends, found before it reads anything else.
struct AuditPlan {
    /// The topics that are read, in this order.
    static let audited: [Topic] = [.granted, .failed, .quarantined, .submitted]

    let window: AuditWindow
    private(set) var owed = OwedEvents()
    /// All partitions, by their numbers.
    let partitions: [TopicPartition]
    /// The topic of each.
    private let kinds: [Topic]
    /// The offsets that are read of each.
    let stretches: [TopicPartition: Range<Int64>]
    /// The offsets that each held.
    let held: [TopicPartition: Range<Int64>]
    let names: [Topic: String]
    let startedAt: Timestamp
    private(set) var unseen: [Unseen] = []
    /// Topics that could not be read, or not to their end.
    private(set) var blindTopics: Set<Topic> = []
    /// Topics that records have left while they were read.
    private var cutTopics: Set<Topic> = []
    private var findings = Findings()
    private var openRecords = 0
    private var oldestOpen: Timestamp?
    private var outboxRows = 0
    private var laterRows = 0

    init(
        _ topics: any AuditedTopics, _ names: [Topic: String], _ ledger: AuditedLedger, group: ConsumerGroup,
        since: Timestamp?, judged: [TopicPartition: Int64], now: Timestamp
    ) throws(AuditError) {
        self.names = names
        startedAt = now
        let input = names.name(of: .submitted)
        let owner = try ledger.asking { ledger throws(LedgerError) in try ledger.group() }
        if let owner, owner.name != group.name || owner.topics != group.topics || group.isElsewhere(than: owner) {
            unseen.append(
                Unseen(
                    .foreignLedger, "ledger",
                    detail: "It belongs to \(owner) and its topics, and these settings are of \(group)."))
        }
        // 1. How far the input is complete.
        var passed: [TopicPartition: Int64] = [:]
        for row in try ledger.asking({ ledger throws(LedgerError) in try ledger.partitions() }) {
            passed[row.partition] = row.next
        }
        let places = try topics.asking { () throws(KafkaError) in try topics.offsets(of: input) }
        let committed = try topics.asking { () throws(KafkaError) in try topics.committed(in: places.keys.sorted()) }
        if !ledger.isStandby { passed.merge(committed, uniquingKeysWith: max) }
        // 2. The rows of the outbox.
        var outbox = OutboxLook(now: now, isStandby: ledger.isStandby)
        try ledger.read(.outbox) { outbox.take($0) }
        // 3. Where the topics end.
        var (held, kinds): ([TopicPartition: Range<Int64>], [TopicPartition: Topic]) = ([:], [:])
        for topic in Self.audited {
            guard let name = names[topic] else { continue }
            do throws(KafkaError) {
                for (partition, offsets) in try topics.offsets(of: name) {
                    held[partition] = offsets
                    kinds[partition] = topic
                }
            } catch {
                guard error.isOneTopics else { throw .kafka(error) }
                blindTopics.insert(topic)
                unseen.append(Unseen(.unreadable, name, detail: "\(error)"))
            }
        }
        partitions = held.keys.sorted()
        guard partitions.count <= Fact.mostPartitions else { throw .tooManyPartitions(partitions.count) }
        self.kinds = partitions.map { kinds[$0] ?? .pending }
        self.held = held
        (owed, outboxRows, laterRows) = (outbox.owed, outbox.count, outbox.later)
        findings = outbox.findings
        if outbox.behind > 0 {
            unseen.append(
                Unseen(
                    .behind, "outbox", count: outbox.behind,
                    detail: "The standby may not have heard that these were told; the primary has."))
        }
        if outbox.owed.isFull {
            unseen.append(Unseen(.tooMany, "outbox", detail: "It has more rows than \(AuditLimits.owed)."))
        }
        let reading = try AuditReading(topics, held, kinds, passed: passed, judged: judged, since: since, now: now)
        stretches = reading.stretches
        openRecords = reading.open
        oldestOpen = reading.oldestOpen
        unseen += reading.unseen
        window = AuditWindow(
            since: since, input: input, complete: passed, ends: places.mapValues(\.upperBound), startedAt: now,
            retained: reading.retained)
        for (topic, error) in reading.unreadable { try cannotRead(topic, error) }
    }

    /// Reports, once for each topic, that it cannot be read.
    private mutating func cannotRead(_ topic: Topic, _ error: KafkaError) throws(AuditError) {
        guard error.isOneTopics else { throw .kafka(error) }
        guard blindTopics.insert(topic).inserted else { return }
        unseen.append(Unseen(.unreadable, names.name(of: topic), detail: "\(error)"))
    }

    /// The table whose events a partition has, by its number.
    var tables: [EventTable?] {
        kinds.map { kind in EventTable.allCases.first { $0.topic == kind } }
    }

    /// Tables whose events cannot be missed.
    var blind: Set<EventTable> {
        Set(EventTable.allCases.filter { blindTopics.contains($0.topic) || cutTopics.contains($0.topic) })
    }

    /// Records that are read, at most.
    var recordCount: Int { stretches.values.reduce(0) { $0 + Int($1.upperBound - $1.lowerBound) } }

    struct Read {
        let records: TopicFacts
        let facts: SortedFacts
    }

    /// 4. Reads the records below the ends.
    mutating func read(
        _ topics: any AuditedTopics, folder: String, progress: (Int) -> Void
    ) throws(AuditError) -> Read {
        let numbers = Dictionary(uniqueKeysWithValues: zip(partitions, partitions.indices))
        let spool = FactSpool(folder: folder, bound: AuditLimits.facts)
        var records = TopicFacts(window, now: startedAt)
        var count = 0
        for stub in owed.stubs { try spool.add(stub) }
        for topic in Self.audited {
            let stretches = stretches.filter { partition, _ in numbers[partition].map { kinds[$0] } == topic }
            guard !stretches.isEmpty else { continue }
            var failure: AuditError?
            do throws(KafkaError) {
                try topics.read(stretches) { partition, batch in
                    guard let number = numbers[partition] else { return true }
                    do throws(AuditError) {
                        for record in batch { try records.take(record, of: topic, partition: number, into: spool) }
                    } catch {
                        failure = error
                        return false
                    }
                    count += batch.count
                    progress(count)
                    return true
                }
            } catch {
                try cannotRead(topic, error)
            }
            if let failure { throw failure }
            try lookAtStarts(of: stretches, topic, topics)
        }
        return Read(records: records, facts: try spool.finish())
    }

    /// Asks which records a topic still holds after it was read. Records leave it at any time, and a reader that comes
    /// too late silently goes on at the oldest record.
    private mutating func lookAtStarts(
        of stretches: [TopicPartition: Range<Int64>], _ topic: Topic, _ topics: any AuditedTopics
    ) throws(AuditError) {
        let held: [TopicPartition: Range<Int64>]
        do throws(KafkaError) {
            held = try topics.offsets(of: names.name(of: topic))
        } catch {
            return try cannotRead(topic, error)
        }
        for (partition, stretch) in stretches.sorted(by: { $0.key < $1.key }) {
            let left = stretch.count - stretch.clamped(to: held[partition] ?? 0..<0).count
            guard left > 0 else { continue }
            cutTopics.insert(topic)
            unseen.append(
                Unseen(.removed, "\(partition)", count: left, detail: "These left the topic while the audit ran."))
        }
    }

    /// The report of all of it.
    func report(_ records: TopicFacts, _ rows: RowFacts, _ judge: Judge, _ second: SecondLook) -> AuditReport {
        var counts = rows.counts
        counts.records = records.counts.records
        counts.openRecords = openRecords
        counts.events = records.counts.events
        counts.quarantined = records.counts.quarantined
        counts.owed = outboxRows
        counts.later += laterRows
        var findings = findings
        findings.add(rows.findings)
        findings.add(records.findings)
        findings.add(second.findings)
        var unseen = unseen + second.unseen
        for table in EventTable.allCases {
            guard let count = judge.gone[table] else { continue }
            let name = names.name(of: table.topic)
            let detail = blindTopics.contains(table.topic) ? nil : "Their events may have left the topic again."
            unseen.append(Unseen(.removed, name, count: count, detail: detail))
        }
        if judge.unexamined > 0 {
            unseen.append(Unseen(.tooMany, "second look", count: judge.unexamined))
        }
        if counts.later > 0 {
            unseen.append(Unseen(.laterVersion, "ledger", count: counts.later))
        }
        let order = Dictionary(uniqueKeysWithValues: zip(Inconsistency.Kind.allCases, 0...))
        let kept = findings.kept.enumerated().sorted { left, right in
            (order[left.element.kind] ?? 0, left.offset) < (order[right.element.kind] ?? 0, right.offset)
        }
        let open = [rows.oldestOpen, oldestOpen].compactMap(\.self).min() ?? startedAt
        return AuditReport(
            startedAt: startedAt, since: window.since, counts: counts, inconsistencies: kept.map(\.element),
            found: findings.found, unseen: unseen,
            next: min(open, startedAt).advanced(by: .zero - AuditLimits.tolerance),
            judged: window.complete.filter { $0.key.topic == window.input && held[$0.key] != nil })
    }
}

/// An audit's findings in the outbox.
private struct OutboxLook {
    let now: Timestamp
    /// A standby may be behind by any time, so that what looks overdue may be done long since.
    let isStandby: Bool
    var owed = OwedEvents()
    var findings = Findings()
    var count = 0
    var later = 0
    /// Rows of a standby that look overdue.
    var behind = 0
    private var bytes = AuditBytes()

    init(now: Timestamp, isStandby: Bool) {
        self.now = now
        self.isStandby = isStandby
    }

    mutating func take(_ row: AuditedRow) {
        count += 1
        guard case .owed(let row) = row.content else { return later += 1 }
        owed.take(row, &bytes)
        guard now.since(row.owedSince) > AuditLimits.overdue else { return }
        guard !isStandby else { return behind += 1 }
        findings.add(
            Inconsistency(
                owed: row, .overdue, detail: "It was due at \(row.owedSince), and \(row.attempts) tries failed."))
    }
}

extension Inconsistency {
    /// About a row of the outbox.
    init(owed row: OutboxRow, _ kind: Kind, detail: String?) {
        switch row.key {
        case .granted(let reference, let submission):
            self.init(kind, submissionID: submission, reference: reference, detail: detail)
        case .failed(let key): self.init(kind, app: key.bundleID, submissionID: key.submissionID, detail: detail)
        case .pending(let key): self.init(kind, detail: "\(key.digest.hex): \(detail ?? "")")
        case .quarantined(let origin, _): self.init(kind, place: origin, detail: detail)
        }
    }

    /// About a record of a topic of events without a row, with the name that the record says.
    init(withoutRow record: InputRecord, of topic: Topic, detail: String? = nil) {
        self.init(
            .eventWithoutRow, submissionID: topic == .failed ? record.subject.map { SubmissionID($0) } : nil,
            transactionID: topic == .granted ? record.subject.map { TransactionID($0) } : nil, place: record.origin,
            eventID: record.eventID, detail: detail)
    }
}

extension KafkaError {
    /// Whether it concerns one topic alone, such as its access rights or a damaged batch.
    var isOneTopics: Bool {
        switch self {
        case .denied, .rejected: true
        case .transient(let failure): failure.name == "UNKNOWN_TOPIC_OR_PART"
        default: false
        }
    }
}
