import Contract
import Cryptography
import Ledger

/// Turns records of the topics into facts.
struct TopicFacts {
    private let window: AuditWindow
    private let now: Timestamp
    private(set) var counts = AuditReport.Counts()
    /// The findings that one record alone shows.
    private(set) var findings = Findings()
    private var bytes = AuditBytes()

    /// - Parameter now: For submissions without a time; nothing that is compared depends on it.
    init(_ window: AuditWindow, now: Timestamp) {
        self.window = window
        self.now = now
    }

    /// - Parameter partition: Its number.
    mutating func take(
        _ record: InputRecord, of topic: Topic, partition: Int, into spool: FactSpool
    ) throws(AuditError) {
        switch topic {
        case .submitted:
            counts.records += 1
            try spool.add(subject(of: record, partition))
        case .granted, .failed:
            counts.events += 1
            if let fact = copy(record, of: topic, partition) { try spool.add(fact) }
        case .quarantined:
            counts.quarantined += 1
            if let fact = quarantined(record) { try spool.add(fact) }
        case .pending: break
        }
    }

    /// A submission, or an origin with an unreadable content.
    private mutating func subject(of record: InputRecord, _ partition: Int) -> Fact {
        let place = record.origin.offset
        if let claimant = SubmissionReading(record, now: now).claimant {
            return Fact(
                AuditKey(submission: claimant.submissionKey, &bytes), .record, partition: partition, number: place)
        }
        return Fact(
            AuditKey(record.origin, &bytes), .unreadable, partition: partition, number: place,
            digest: QuarantinedContent.of(SHA256.hash(record.value ?? []), isStub: false))
    }

    /// An event's copy; nil for one of a decision before the window, and for a record that is no event.
    private mutating func copy(_ record: InputRecord, of topic: Topic, _ partition: Int) -> Fact? {
        guard let key = record.eventKey else {
            findings.add(Inconsistency(withoutRow: record, of: topic, detail: "It has no event id."))
            return nil
        }
        if window.since != nil, let time = record.eventTime, !window.isInside(time) { return nil }
        let content = bytes.content(key: record.key, value: record.value, headers: record.headers)
        return Fact(key, .copy, partition: partition, number: record.origin.offset, digest: content)
    }

    /// A record of the quarantine topic by the origin of its submission; nil if it names none.
    private mutating func quarantined(_ record: InputRecord) -> Fact? {
        guard let (origin, content) = record.quarantined else { return nil }
        return Fact(AuditKey(origin, &bytes), .quarantined, digest: content)
    }
}

extension InputRecord {
    func header(_ name: String) -> [UInt8]? { headers.last { $0.name == name }?.value }

    var eventID: EventID? { header(CloudEvent.idHeader).map { EventID(String(decoding: $0, as: UTF8.self)) } }
    var eventKey: AuditKey? { header(CloudEvent.idHeader).flatMap { AuditKey(event: $0) } }
    var eventTime: Timestamp? {
        header(CloudEvent.timeHeader).flatMap { Timestamp(rfc3339: String(decoding: $0, as: UTF8.self)) }
    }

    /// A transaction of an event of a grant, and a submission of one of a failure; nil for a text that is none.
    var subject: String? {
        guard let subject = header(CloudEvent.subjectHeader), !subject.isEmpty, subject.count <= AuditLimits.subject
        else { return nil }
        return String(decoding: subject, as: UTF8.self)
    }

    /// The attempts that a failure's event names.
    var failedAttempts: Int? {
        guard let value, case .number(let text)? = (try? StrictJSON(value))?.members["attempts"] else { return nil }
        return Int(text)
    }

    /// The origin of a record of the quarantine topic, and its content there.
    var quarantined: (Origin, UInt64)? {
        guard let label = QuarantineLabel(headers) else { return nil }
        guard let stub = label.stub else {
            return (label.origin, QuarantinedContent.of(SHA256.hash(value ?? []), isStub: false))
        }
        guard let digest = SHA256Digest(hex: stub.digest.utf8) else { return nil }
        return (label.origin, QuarantinedContent.of(digest, isStub: true))
    }

    /// Whether the content of a copy on the quarantine topic, or of an owed stub, is that of this record.
    func isMeant(by content: UInt64) -> Bool {
        content == QuarantinedContent.anything
            || content == QuarantinedContent.of(SHA256.hash(value ?? []), isStub: false)
    }
}

/// The content of a record that cannot be read, as a fact has it.
enum QuarantinedContent {
    /// Any content.
    static let anything: UInt64 = 0
    private static let nothing = SHA256.hash([])

    /// An operator passes offsets without a look at their records: the stub of such a one has the digest of nothing.
    static func of(_ digest: SHA256Digest, isStub: Bool) -> UInt64 {
        isStub && digest == nothing ? anything : max(1, digest.short)
    }
}
