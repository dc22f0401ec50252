import Contract
import Ledger

/// The tables whose rows have an event.
enum EventTable: Int, CaseIterable, Sendable {
    case grants
    case answers

    var topic: Topic { self == .grants ? .granted : .failed }
    var audited: AuditedTable { self == .grants ? .grants : .answers }
}

/// The part of a ledger and its topics that an audit has to look at, as of its beginning.
struct AuditWindow: Sendable {
    /// Rows and events of earlier decisions are not looked at.
    let since: Timestamp?
    /// The input topic.
    let input: String
    /// Of each partition of input topics, the offset below which records are complete.
    let complete: [TopicPartition: Int64]
    /// Of each partition of the input topic, its end.
    let ends: [TopicPartition: Int64]
    let startedAt: Timestamp
    /// Events of earlier rows may have left their topic again; nil where nothing has.
    let retained: [EventTable: Timestamp]

    /// The moment until which answers may be missing, because operators pruned them or erased their user. Nil where
    /// none did.
    static func forgotten(by actions: [OperatorAction]) -> Timestamp? {
        actions.compactMap { action -> Timestamp? in
            switch action.kind {
            case .prune: action.note.prunesBefore ?? action.note.at
            case .erase: action.note.at
            default: nil
            }
        }.max()
    }

    func isInside(_ decidedAt: Timestamp) -> Bool { since.map { decidedAt >= $0 } ?? true }

    /// Whether a record was complete when the audit began, so that its rows were told or owed by then.
    ///
    /// A row from before the audit may have an offset behind its partition's end. Its topic was then made anew, or has
    /// lost its end. Nobody reads that record again, so the row is not to come: it is complete.
    func isComplete(_ origin: Origin, decidedAt: Timestamp) -> Bool {
        if let complete = complete[origin.topicPartition], origin.offset < complete { return true }
        return origin.topic == input && origin.offset >= ends[origin.topicPartition] ?? 0
            && decidedAt < startedAt.advanced(by: .zero - AuditLimits.tolerance)
    }

    func mayBeGone(_ table: EventTable, _ decidedAt: Timestamp) -> Bool {
        retained[table].map { decidedAt < $0 } ?? false
    }
}

/// The events that the outbox owed when the audit began.
struct OwedEvents: Sendable {
    private struct Owed {
        let step: OutboxStep
        var isThere = false
    }

    private var owed: [AuditKey: Owed] = [:]
    /// Stubs of quarantined records, as facts.
    private(set) var stubs: [Fact] = []
    private(set) var isFull = false

    var count: Int { owed.count + stubs.count }

    mutating func take(_ row: OutboxRow, _ bytes: inout AuditBytes) {
        guard count < AuditLimits.owed else { return isFull = true }
        switch row.key {
        case .granted(let reference, _): add(AuditKey(reference, &bytes), row.step)
        case .failed(let key): add(AuditKey(submission: key, &bytes), row.step)
        case .quarantined(let origin, let digest):
            let content = QuarantinedContent.of(digest, isStub: true)
            stubs.append(Fact(AuditKey(origin, &bytes), .quarantined, digest: content))
        case .pending: break
        }
    }

    /// A call comes before whatever else is owed of a grant.
    private mutating func add(_ key: AuditKey, _ step: OutboxStep) {
        guard owed[key]?.step != .call else { return }
        owed[key] = Owed(step: step)
    }

    /// The step that is owed of a row, which is there.
    mutating func step(of key: AuditKey) -> OutboxStep? {
        guard !owed.isEmpty, let step = owed[key]?.step else { return nil }
        owed[key]?.isThere = true
        return step
    }

    /// Whether the row that a key is about was not met.
    func isWithoutRow(_ key: AuditKey) -> Bool { owed[key].map { !$0.isThere } ?? false }
    var hasSomeWithoutRow: Bool { owed.values.contains { !$0.isThere } }
}
