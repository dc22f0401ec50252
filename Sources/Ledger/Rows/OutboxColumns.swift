public import Contract
import Cryptography

/// The form of a row of `outbox`, the same in every database.
public enum OutboxColumns {
    public static let written = WrittenColumns([
        "key": .text, "step": .text, "target": .text, "due_at": .integer, "reason": .text, "record_time": .integer,
        "digest": .blob, "size": .integer,
    ])

    /// Writes the values of ``written``.
    public static func write(_ new: NewOutboxRow, now: Timestamp, to row: inout some RowWriter) {
        row.text(new.key.text)
        row.text(new.step.rawValue)
        row.text(new.target.text)
        row.time(now.advanced(by: .milliseconds(new.delay)))
        row.text(new.stub?.reason)
        row.time(new.stub?.timestamp)
        if let stub = new.stub { row.blob(stub.digest.bytes) } else { row.null() }
        row.integer(new.stub.map { Int64($0.size) })
    }

    /// Most rows of one request that are put off because this version cannot render them.
    public static let mostPutOff = 10_000

    /// Rows whose key and step this version knows; those of a later version stay for its workers, and hide no other.
    public static let isKnown = """
        step IN ('call', 'publish') AND (key LIKE 'granted:production:%' OR key LIKE 'granted:sandbox:%'
            OR key LIKE 'failed:%' OR key LIKE 'quarantined:%')
        """
    public static let isOfKnownTarget = """
        (target LIKE 'service:%' OR target IN (\(Topic.allCases.map { "'topic:\($0.rawValue)'" }.joined(separator: ", "))))
        """

    /// Columns of ``DueOutboxRow/init(_:)``.
    public static let due = "key, step, attempts, reason, record_time, digest, size, sequence"
    /// Columns of ``row(_:)``.
    public static let shown = "key, step, target, due_at, leased_until, attempts"

    /// A row as people see it; nil for one that only a later version can read.
    public static func row(_ row: some RowReader) -> OutboxRow? {
        guard let key = OutboxKey(text: row.text(0)), let step = OutboxStep(rawValue: row.text(1)),
            let target = OutboxTarget(text: row.text(2))
        else { return nil }
        return OutboxRow(
            key: key, step: step, target: target, dueAt: row.time(3), isLeased: !row.isNull(4), attempts: row.int(5))
    }

    /// Keys of a submission's own event, of its grants and of the copies that it asked for.
    public static func keys(of key: SubmissionKey, grants: [Grant], answer: Answer?) -> [OutboxKey] {
        var keys: [OutboxKey] = grants.map { .granted($0.reference, repeatOf: nil) }
        keys.append(.failed(key.bundleID, key.submissionID))
        if case .repeated(let repeated) = answer {
            keys.append(.granted(repeated.grant, repeatOf: nil))
            keys.append(.granted(repeated.grant, repeatOf: key.submissionID))
        }
        return keys + grants.map { .granted($0.reference, repeatOf: key.submissionID) }
    }
}

/// A row of the outbox that is due, in the columns ``OutboxColumns/due``.
public struct DueOutboxRow: Sendable {
    public let sequence: Int64
    public let attempts: Int
    /// Nil where its key or step is a later version's.
    private let owed: (key: OutboxKey, step: OutboxStep)?
    private let stub: QuarantineStub?

    public init(_ row: some RowReader) {
        sequence = row.integer(7)
        attempts = row.int(2)
        owed = OutboxKey(text: row.text(0)).flatMap { key in OutboxStep(rawValue: row.text(1)).map { (key, $0) } }
        if case .quarantined(let origin, _)? = owed?.key, let digest = SHA256Digest(bytes: row.blob(5)) {
            stub = QuarantineStub(
                origin: origin, reason: row.text(3), timestamp: row.time(4), digest: digest, size: row.int(6))
        } else {
            stub = nil
        }
    }

    /// The grant that its step needs.
    public var grant: GrantReference? {
        if case .granted(let reference, _)? = owed?.key { reference } else { nil }
    }

    /// The failed submission that its step needs.
    public var failure: SubmissionKey? {
        guard case .failed(let app, let submission)? = owed?.key else { return nil }
        return SubmissionKey(bundleID: app, submissionID: submission)
    }

    /// The input of its step. Nil if the row that it refers to does not exist, or is a later version's.
    /// - Parameters:
    ///   - grant: The row of ``grant``.
    ///   - answer: The row of ``failure``.
    public func work(grant: Grant?, answer: Answer?) -> OutboxItem.Work? {
        guard let owed else { return nil }
        switch owed.key {
        case .granted(_, let submission):
            return grant.map {
                owed.step == .call ? .call($0) : .publish(GrantedEvent.event(of: $0, repeatOf: submission))
            }
        case .failed:
            guard case .failed(let failure)? = answer else { return nil }
            return .publish(FailedEvent.event(of: failure))
        case .quarantined: return stub.map { .publish(QuarantinedEvent.event(of: $0)) }
        }
    }

    /// The row, taken under a lease.
    public func item(_ work: OutboxItem.Work, lease number: Int64) -> OutboxItem? {
        owed.map { owed in
            OutboxItem(
                lease: OutboxLease(key: owed.key, step: owed.step, number: number), attempts: attempts, work: work)
        }
    }
}
