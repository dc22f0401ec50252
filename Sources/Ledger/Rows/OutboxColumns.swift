public import Contract
import Cryptography

/// The form of a row of `outbox`, the same in every database.
public enum OutboxColumns: Int32, TableColumn {
    case key, step, target, dueAt, owedSince, reason, recordTime, digest, size
    // Read beside those that are written.
    case sequence, leasedUntil, attempts

    public static let table = "outbox"
    private static let values = Array(allCases.prefix { $0 != .sequence })
    public static let written = WrittenColumns(values)

    public var kind: WrittenColumns.Kind {
        switch self {
        case .key, .step, .target, .reason: .text
        case .dueAt, .owedSince, .recordTime, .size, .sequence, .leasedUntil, .attempts: .integer
        case .digest: .blob
        }
    }

    /// Writes the values of ``written``.
    public static func write(_ new: NewOutboxRow, now: Timestamp, to row: inout some RowWriter) {
        for column in values {
            switch column {
            case .key: row.text(new.key.text)
            case .step: row.text(new.step.rawValue)
            case .target: row.text(new.target.text)
            case .dueAt, .owedSince: row.time(now.advanced(by: .milliseconds(new.delay)))
            case .reason: row.text(new.stub?.reason)
            case .recordTime: row.time(new.stub?.timestamp)
            case .digest: row.blob(new.stub?.digest.bytes)
            case .size: row.integer(new.stub.map { Int64($0.size) })
            case .sequence, .leasedUntil, .attempts: break
            }
        }
    }

    /// Most rows of one request that one call puts off, or deletes, because they cannot be rendered. The next call goes
    /// on behind them.
    public static let mostPutOff = 4_000

    /// How many rows are asked for at once. Many rows that cannot be rendered may stand together, as after a change of
    /// versions. One by one they would take longer than a call may.
    /// - Parameters:
    ///   - left: How many the request still wants.
    ///   - putOff: How many could not be rendered so far.
    public static func portion(left: Int, putOff: Int) -> Int { putOff == 0 ? left : max(left, 1_000) }

    /// Rows whose key and step this version knows. Rows of a later version stay for its workers, and hide no others.
    public static let isKnown = """
        step IN ('call', 'publish') AND (key LIKE 'granted:production:%' OR key LIKE 'granted:sandbox:%'
            OR key LIKE 'failed:%' OR key LIKE 'pending:%' OR key LIKE 'quarantined:%')
        """
    public static let isOfKnownTarget = """
        (target LIKE 'service:%' OR target IN (\(Topic.allCases.map { "'topic:\($0.rawValue)'" }.joined(separator: ", "))))
        """

    /// Rows that ``row(_:)`` can read.
    public static let isShown = "\(isKnown) AND \(isOfKnownTarget)"

    /// Columns of ``row(_:)`` and ``DueOutboxRow/init(_:)``.
    public static let shown = selected

    /// A row as people see it; nil for one that only a later version can read.
    public static func row(_ row: some RowReader) -> OutboxRow? {
        let row = TableRow(row, Self.self)
        guard let key = OutboxKey(text: row.text(.key)), let step: OutboxStep = row.word(.step),
            let target = OutboxTarget(text: row.text(.target))
        else { return nil }
        return OutboxRow(
            key: key, step: step, target: target, dueAt: row.time(.dueAt), owedSince: row.time(.owedSince),
            isLeased: !row.isNull(.leasedUntil), attempts: row.int(.attempts), answer: step == .call ? row.answer : nil)
    }

    /// A row as an audit sees it.
    public static func audited(_ reader: some RowReader) -> AuditedRow {
        AuditedRow(
            sequence: TableRow(reader, Self.self).integer(.sequence),
            content: row(reader).map { .owed($0) } ?? .later(nil))
    }

    /// Keys of a submission's own events, of its grants and of the copies that it asked for.
    public static func keys(
        of key: SubmissionKey, grants: [Grant], answer: Answer?, waiting: [RetryRow]
    ) -> [OutboxKey] {
        var keys: [OutboxKey] = grants.map { .granted($0.reference, repeatOf: nil) }
        keys += waiting.map { .pending($0.key) }
        keys.append(.failed(key))
        if case .repeated(let repeated) = answer {
            keys.append(.granted(repeated.grant, repeatOf: nil))
            keys.append(.granted(repeated.grant, repeatOf: key.submissionID))
        }
        return keys + grants.map { .granted($0.reference, repeatOf: key.submissionID) }
    }
}

extension TableRow where Column == OutboxColumns {
    fileprivate var answer: ServiceAnswer? { isNull(.reason) ? nil : ServiceAnswer(text: text(.reason)) }
}

/// A row of the outbox that is due, in the columns ``OutboxColumns/shown``.
public struct DueOutboxRow: Sendable {
    public let sequence: Int64
    public let attempts: Int
    /// Nil where its key or step is a later version's.
    private let owed: (key: OutboxKey, step: OutboxStep)?
    private let stub: QuarantineStub?

    public init(_ row: some RowReader) {
        let row = TableRow(row, OutboxColumns.self)
        sequence = row.integer(.sequence)
        attempts = row.int(.attempts)
        owed = OutboxKey(text: row.text(.key)).flatMap { key in (row.word(.step) as OutboxStep?).map { (key, $0) } }
        if case .quarantined(let origin, _)? = owed?.key, let digest = SHA256Digest(bytes: row.blob(.digest)) {
            stub = QuarantineStub(
                origin: origin, reason: row.text(.reason), timestamp: row.time(.recordTime), digest: digest,
                size: row.int(.size))
        } else {
            stub = nil
        }
    }

    /// The grant that its step needs.
    public var grant: GrantReference? {
        if case .granted(let reference, _)? = owed?.key { reference } else { nil }
    }

    /// The failed submission that its step needs.
    public var failure: SubmissionKey? { owed?.key.failure }

    /// The waiting submission that its step needs.
    public var waiting: RetryKey? {
        if case .pending(let key)? = owed?.key { key } else { nil }
    }

    /// Whether the row that it refers to is gone for good, so that nothing is owed any more. Such a row is a submission
    /// that no longer waits, or a failure that was pruned or erased long after its first event. The ids of an erased
    /// grant are gone, too, and its event would have other bytes.
    /// - Parameters:
    ///   - grant: The row of ``grant``.
    ///   - isAnswered: Whether the submission of ``failure`` has an answer, of whatever version.
    ///   - isWaiting: The same for the row of ``waiting``.
    public func isOver(grant: Grant?, isAnswered: Bool, isWaiting: Bool) -> Bool {
        failure != nil && !isAnswered || waiting != nil && !isWaiting || grant?.isErased == true
    }

    /// The input of its step. Nil if the row that it refers to does not exist, was erased, or is a later version's.
    /// - Parameters:
    ///   - grant: The row of ``grant``.
    ///   - answer: The row of ``failure``.
    ///   - pending: The row of ``waiting``.
    public func work(grant: Grant?, answer: Answer?, pending: WaitingRow?) -> OutboxItem.Work? {
        guard let owed else { return nil }
        switch owed.key {
        case .granted(_, let submission):
            return grant.flatMap {
                if $0.isErased { return nil }
                return owed.step == .call ? .call($0) : .publish(GrantedEvent.event(of: $0, repeatOf: submission))
            }
        case .failed:
            guard case .failed(let failure)? = answer else { return nil }
            return .publish(FailedEvent.event(of: failure))
        case .pending:
            guard let pending, !pending.isAnswered else { return nil }
            return .publish(PendingEvent.event(of: pending.pending))
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
