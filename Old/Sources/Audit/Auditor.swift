import Fulfillment
import Ledger
import Purchases

/// Judges a ledger and its topics. Takes what is there, fact by fact, and says at the end what does not fit. It decides
/// only: it reads nothing, and knows no clock.
///
/// Memory goes by what there is to compare, and bodies are not kept. Measured, in MiB per million: 70 for records of the
/// input topic, 120 for events on the output topics, 200 for grants, 35 for submissions.
public struct Auditor: Sendable {
    private let names: AuditedTopicNames
    private let drained: Bool
    private let places: Places
    private var retention: Retention
    private var copies = CopyIndex()
    private var grants = GrantIndex()

    private var fates: FateCheck
    private var grantKeys = GrantKeyCheck()
    private var answers = AnswerCheck()
    private var parked = ParkedCheck()
    private var outbox = OutboxCheck()
    private var copyCheck: CopyCheck
    private var delivery: DeliveryCheck
    private var deliveries = OpenDeliveryCheck()
    private var quantities = QuantityCheck()
    private var quarantine: QuarantineCheck
    private var hasEvents = false
    private var read = AuditReport.Read()

    /// An auditor that has seen nothing.
    ///
    /// - Parameters:
    ///   - bounds: taken before anything else was read.
    ///   - drained: whether all that came in is said to be settled and published.
    public init(names: AuditedTopicNames, bounds: AuditBounds, drained: Bool) {
        self.names = names
        self.drained = drained
        places = Places(bounds.offsets.keys)
        retention = Retention(bounds)
        fates = FateCheck(bounds, names.submitted, places)
        copyCheck = CopyCheck(places, names.outputs)
        delivery = DeliveryCheck(places, names.outputs, bounds.relay)
        quarantine = QuarantineCheck(places, bounds)
    }

    /// Takes the next fact, in the order that ``AuditFact`` has.
    public mutating func take(_ fact: AuditFact) {
        switch fact {
        case .record(let record): take(record)
        case .grant(let row):
            read.grants += 1
            grantKeys.take(row)
            outbox.take(row)
            grants.take(row)
        case .delivery(let row):
            deliveries.take(row, &grants)
        case .quarantine(let row):
            read.quarantined += 1
            let place = place(of: row.origin)
            fates.quarantined(place)
            outbox.take(row)
            quarantine.take(row, at: place)
        case .submission(let row):
            read.submissions += 1
            if row.outcome == .parked { read.parked += 1 }
            if row.outcome == .held { read.held += 1 }
            let id = Identity(
                SubmissionKey(bundleID: row.claimant.bundleID, submissionID: row.claimant.submissionID))
            let place = place(of: row.origin)
            fates.settled(id, place)
            answers.take(row, id, grants)
            parked.take(row)
            outbox.take(row, id)
            quarantine.take(row, at: place)
        case .event(let entry): take(entry)
        }
    }

    private func place(of origin: Origin) -> Place? {
        places.place(TopicPartition(topic: origin.topic, partition: origin.partition), origin.offset)
    }

    private mutating func take(_ record: TopicRecord) {
        guard let place = places.place(record.partition, record.offset) else { return }
        retention.saw(record)
        if let kind = names.kind(of: record.partition.topic) {
            read.published += 1
            return copyCheck.take(record, kind: kind, place, &copies)
        }
        read.submitted += 1
        let subject = RecordSubject(of: record.submission)
        fates.take(subject, at: place)
        if subject == .unreadable { quarantine.take(unreadable: record, at: place) }
    }

    private mutating func take(_ entry: OutboxEntry) {
        if !hasEvents {
            hasEvents = true
            quantities.take(grants)
        }
        read.events += 1
        let id = Identity(entry.event.id)
        let copy = copies.remove(id)
        deliveries.take(entry, grants.marks[id])
        let body = outbox.take(entry, id, &grants)
        copyCheck.take(entry, copy)
        delivery.take(entry, copy, retention)
        quarantine.take(entry, id)
        if let body {
            let mayBeGone = copy == nil && retention.mayHaveLost(entry.event, in: names.outputs.granted)
            quantities.take(body, id, isTold: copy != nil, mayBeGone: mayBeGone, &grants)
        }
    }

    /// What was found, once everything was taken.
    public consuming func report() -> AuditReport {
        if !hasEvents { quantities.take(grants) }
        var findings = fates.findings(drained: drained)
        findings.append(grantKeys.finding(drained: drained))
        findings += answers.findings(drained: drained)
        findings.append(outbox.finding(grants, drained: drained))
        findings.append(copyCheck.finding(strays: copies, drained: drained))
        findings += delivery.findings(drained: drained)
        findings.append(quantities.finding(grants.products, drained: drained))
        findings.append(parked.finding(drained: drained))
        findings.append(quarantine.finding(drained: drained))
        findings.append(deliveries.finding(drained: drained))
        let order = Invariant.allCases
        return AuditReport(
            drained: drained, read: read,
            findings: findings.sorted {
                order.firstIndex(of: $0.invariant) ?? 0 < order.firstIndex(of: $1.invariant) ?? 0
            })
    }
}
