import Contract
import Kafka
import Ledger

/// Looks at suspicions again, now that time has passed, and names those that stay.
struct SecondLook {
    let topics: any AuditedTopics
    let ledger: AuditedLedger
    let plan: AuditPlan
    /// The time of the newest row that was read.
    private let newest: Timestamp
    let now: Timestamp
    var findings = Findings()
    var unseen: [Unseen] = []
    var bytes = AuditBytes()
    private var behind = 0
    var forgotten = 0

    init(_ topics: any AuditedTopics, _ ledger: AuditedLedger, _ plan: AuditPlan, newest: Timestamp, now: Timestamp) {
        self.topics = topics
        self.ledger = ledger
        self.plan = plan
        self.newest = newest
        self.now = now
    }

    mutating func look(at suspicions: [Judge.Suspicion]) throws(AuditError) {
        guard !suspicions.isEmpty else { return }
        try lookAtRows(suspicions)
        try lookAtCopies(suspicions)
        try lookAtInput(suspicions)
        if forgotten > 0 {
            unseen.append(
                Unseen(
                    .forgotten, "answers", count: forgotten,
                    detail: "Answers of that time were pruned, or deleted with their user."))
        }
        if behind > 0 {
            unseen.append(
                Unseen(
                    .behind, "ledger", count: behind, detail: "The standby may not have the rows of these events yet."))
        }
    }

    // MARK: Rows

    /// A row whose event was not met yet.
    private struct Untold {
        let row: AuditedRow
        let table: EventTable
        let mend: UntoldEvent
        let content: UInt64
        /// A record of its topic that has its event's id and other bytes.
        var altered: (record: InputRecord, content: UInt64)?
    }

    private mutating func lookAtRows(_ suspicions: [Judge.Suspicion]) throws(AuditError) {
        var untold: [AuditKey: Untold] = [:]
        for suspicion in suspicions {
            let fact = suspicion.fact
            switch suspicion.kind {
            case .keyTwice: if let row = try row(of: fact) { findings.add(Inconsistency(row, .keyTwice)) }
            case .purchaseTwice:
                if let row = try row(of: fact) { findings.add(Inconsistency(row, .purchaseGrantedTwice)) }
            case .toldBeforeCall:
                guard let row = try row(of: fact), try owed(row)?.step == .call else { continue }
                // The service may have answered since.
                if ledger.isStandby { behind += 1 } else { findings.add(Inconsistency(row, .toldBeforeCall)) }
            case .untold:
                guard let row = try row(of: fact), try owed(row) == nil, let key = row.outboxKey, let event = row.event,
                    let id = AuditKey(event.id)
                else { continue }
                let table = EventTable(rawValue: fact.partition) ?? .grants
                untold[id] = Untold(row: row, table: table, mend: .event(key), content: bytes.content(of: event))
            case .noOutcome, .notQuarantined, .stray, .altered: continue
            }
        }
        // A row may have come after the look at the outbox, and its row of the outbox may be gone by now. Then its
        // event was published, behind the ends of the first look.
        var scratch = AuditBytes()
        for table in EventTable.allCases where !untold.isEmpty {
            let isWhole = try readBehind(table.topic) { record in
                guard let key = record.eventKey, let found = untold[key], found.table == table else { return }
                let content = scratch.content(key: record.key, value: record.value, headers: record.headers)
                if found.content == content {
                    untold[key] = nil
                } else {
                    untold[key]?.altered = (record, content)
                }
            }
            let missed = isWhole ? [:] : untold.filter { $0.value.table == table && $0.value.altered == nil }
            guard !missed.isEmpty else { continue }
            untold = untold.filter { missed[$0.key] == nil }
            unseen.append(
                Unseen(
                    .removed, plan.names.name(of: table.topic), count: missed.count,
                    detail: "Their events may have left the topic while the audit ran."))
        }
        for (_, found) in untold.sorted(by: { $0.key < $1.key }) {
            if let (record, content) = found.altered {
                findings.add(altered(found.row, record, content))
            } else {
                let kind: Inconsistency.Kind = found.table == .grants ? .grantUntold : .failureUntold
                findings.add(Inconsistency(found.row, kind, mend: found.mend))
            }
        }
    }

    /// A record that has the id of a row's event and other bytes.
    private func altered(_ row: AuditedRow, _ record: InputRecord, _ content: UInt64) -> Inconsistency {
        var scratch = AuditBytes()
        if let time = record.eventTime, let event = row.event(decidedAt: time, attempts: record.failedAttempts),
            scratch.content(of: event) == content
        {
            return Inconsistency(
                row, .decidedAgain, place: record.origin, detail: "It says the same, decided at \(time).")
        }
        return Inconsistency(row, .eventAltered, place: record.origin, detail: "Other bytes than its row makes.")
    }

    private func owed(_ row: AuditedRow) throws(AuditError) -> OutboxRow? {
        guard let claimant = row.claimant, let key = row.outboxKey else { return nil }
        let record = try ledger.asking { ledger throws(LedgerError) in try ledger.submission(claimant.submissionKey) }
        return record.owed.first { $0.key == key }
    }

    /// Reads the records that have come to a topic since the first look.
    /// - Returns: Whether all of that was still there.
    private func readBehind(_ topic: Topic, _ take: (InputRecord) -> Void) throws(AuditError) -> Bool {
        guard let name = plan.names[topic], !plan.blindTopics.contains(topic) else { return true }
        var isWhole = true
        try topics.asking { () throws(KafkaError) in
            var stretches: [TopicPartition: Range<Int64>] = [:]
            for (partition, offsets) in try topics.offsets(of: name) {
                let start = plan.held[partition]?.upperBound ?? 0
                if start < offsets.upperBound { stretches[partition] = start..<offsets.upperBound }
            }
            guard !stretches.isEmpty else { return }
            try topics.read(stretches) { _, records in
                records.forEach(take)
                return true
            }
            let held = try topics.offsets(of: name)
            isWhole = stretches.allSatisfy { partition, stretch in
                held[partition].map { $0.lowerBound <= stretch.lowerBound } ?? false
            }
        }
        return isWhole
    }

    // MARK: Records

    /// The records of suspicions, as they stand there, without those that have left their topic.
    mutating func records(
        of suspicions: [Judge.Suspicion], _ kinds: Set<Judge.Suspicion.Kind>
    ) throws(AuditError) -> [(suspicion: Judge.Suspicion, record: InputRecord)] {
        var wanted: [TopicPartition: [Int64: Judge.Suspicion]] = [:]
        for suspicion in suspicions where kinds.contains(suspicion.kind) {
            wanted[plan.partitions[suspicion.fact.partition], default: [:]][suspicion.fact.number] = suspicion
        }
        var found: [(suspicion: Judge.Suspicion, record: InputRecord)] = []
        let stretches = wanted.mapValues { offsets in (offsets.keys.min() ?? 0)..<(offsets.keys.max() ?? 0) + 1 }
        guard !stretches.isEmpty else { return [] }
        try topics.asking { () throws(KafkaError) in
            try topics.read(stretches) { partition, records in
                for record in records {
                    guard let suspicion = wanted[partition]?.removeValue(forKey: record.origin.offset) else { continue }
                    found.append((suspicion, record))
                }
                return true
            }
        }
        for (partition, left) in wanted.sorted(by: { $0.key < $1.key }) where !left.isEmpty {
            unseen.append(
                Unseen(
                    .removed, "\(partition)", count: left.count,
                    detail: "These left the topic before they were looked at again."))
        }
        return found
    }

    private mutating func lookAtCopies(_ suspicions: [Judge.Suspicion]) throws(AuditError) {
        var lost: [InputRecord] = []
        for (suspicion, record) in try records(of: suspicions, [.stray, .altered]) {
            guard let id = record.eventID else { continue }
            let subject = record.subject ?? ""
            let content = bytes.content(key: record.key, value: record.value, headers: record.headers)
            let isGrant = record.origin.topic == plan.names[.granted]
            if let row = try isGrant ? grant(subject, id) : failure(subject, id), let event = row.event {
                guard bytes.content(of: event) != content else { continue }
                findings.add(altered(row, record, content))
            } else if let other = try isGrant ? failure(subject, id) : grant(subject, id) {
                findings.add(
                    Inconsistency(
                        other, .eventAltered, place: record.origin, detail: "It stands on another topic than its own."))
            } else if let row = try row(of: suspicion.row) {
                // Its subject is another, too.
                findings.add(altered(row, record, content))
            } else {
                lost.append(record)
            }
        }
        guard !lost.isEmpty else { return }
        let forgottenBefore = try forgottenBefore()
        for record in lost {
            let topic: Topic = record.origin.topic == plan.names[.granted] ? .granted : .failed
            if ledger.isStandby, (record.eventTime ?? now) > newest.advanced(by: .zero - AuditLimits.tolerance) {
                behind += 1
            } else if topic == .failed, let forgottenBefore, let time = record.eventTime, time < forgottenBefore {
                forgotten += 1
            } else {
                findings.add(Inconsistency(withoutRow: record, of: topic))
            }
        }
    }

    /// Whether earlier answers may be missing. Commands and workers that delete answers are noted before the first one
    /// goes. This is asked once answers were missed, so it knows of deletions that began during the audit, too.
    func forgottenBefore() throws(AuditError) -> Timestamp? {
        AuditWindow.forgotten(
            by: try ledger.asking { ledger throws(LedgerError) in try ledger.actions(on: nil) })
    }

    /// The row of a fact, if it is still there.
    private func row(of fact: Fact?) throws(AuditError) -> AuditedRow? {
        guard let fact, let table = EventTable(rawValue: fact.partition) else { return nil }
        let row = try ledger.page(table.audited, after: fact.number - 1, limit: 1).first
        return row?.sequence == fact.number ? row : nil
    }

    /// The grant of an event, by its transaction.
    private func grant(_ transaction: String, _ id: EventID) throws(AuditError) -> AuditedRow? {
        let transaction = TransactionID(transaction)
        let rows = try ledger.asking { ledger throws(LedgerError) in
            try ledger.grants(GrantQuery(transactionID: transaction))
        }
        let row = rows.first { GrantedEvent.id(of: $0.grant.key.grantID) == id }
        return row.map { AuditedRow(sequence: $0.sequence, content: .grant($0.grant)) }
    }

    /// The failure of an event, by its submission.
    private func failure(_ submission: String, _ id: EventID) throws(AuditError) -> AuditedRow? {
        let query = SubmissionQuery(state: .failed, submissionID: SubmissionID(submission))
        let rows = try ledger.asking { ledger throws(LedgerError) in try ledger.submissions([query]) }
        for row in rows.joined() {
            let key = row.claimant.submissionKey
            guard FailedEvent.id(bundleID: key.bundleID, submissionID: key.submissionID) == id else { continue }
            let record = try ledger.asking { ledger throws(LedgerError) in try ledger.submission(key) }
            guard case .failed(let failure)? = record.answer else { continue }
            return AuditedRow(sequence: row.sequence, content: .failure(failure))
        }
        return nil
    }

    // MARK: The outbox

    /// Names rows of the outbox whose own row was not met.
    mutating func lookAtOutbox(_ owed: OwedEvents) throws(AuditError) {
        guard owed.hasSomeWithoutRow else { return }
        var suspects: [OutboxRow] = []
        var scratch = AuditBytes()
        try ledger.read(.outbox) { row in
            guard case .owed(let row) = row.content, suspects.count < AuditLimits.suspicions else { return }
            switch row.key {
            case .granted(let reference, _):
                if owed.isWithoutRow(AuditKey(reference, &scratch)) { suspects.append(row) }
            case .failed(let key):
                if owed.isWithoutRow(AuditKey(submission: key, &scratch)) { suspects.append(row) }
            case .pending, .quarantined: break
            }
        }
        for row in suspects {
            let isThere = try ledger.asking { ledger throws(LedgerError) -> Bool in
                switch row.key {
                case .granted(let reference, _):
                    return try ledger.grants(GrantQuery(transactionID: reference.transactionID))
                        .contains { $0.grant.reference == reference }
                case .failed(let key):
                    let record = try ledger.submission(key)
                    if case .failed? = record.answer { return true }
                    return record.later > 0
                case .pending, .quarantined: return true
                }
            }
            if !isThere { findings.add(Inconsistency(owed: row, .owedWithoutRow, detail: nil)) }
        }
    }
}

extension Inconsistency {
    /// About a row that has an event.
    fileprivate init(
        _ row: AuditedRow, _ kind: Kind, place: Origin? = nil, detail: String? = nil, mend: UntoldEvent? = nil
    ) {
        self.init(
            kind, claimant: row.claimant, reference: row.reference, place: place, eventID: row.event?.id,
            detail: detail, mend: mend)
    }
}
