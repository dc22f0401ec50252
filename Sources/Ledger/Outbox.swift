public import Contract
public import Cryptography

/// The event or call that a row of `outbox` owes.
public enum OutboxKey: Hashable, Sendable {
    /// The event of a grant; with a mark where a repeat asked for a copy.
    case granted(GrantReference, repeatOf: SubmissionID?)
    /// The event of a failed submission.
    case failed(SubmissionKey)
    /// The event of a submission that waits; of its row as it is when the event is taken.
    case pending(RetryKey)
    /// The stub of a quarantined record. Its content distinguishes it from a record of a topic that was made anew.
    case quarantined(Origin, SHA256Digest)

    /// The failed submission whose event this is; nil for every other key.
    public var failure: SubmissionKey? {
        if case .failed(let key) = self { key } else { nil }
    }
}

extension OutboxKey {
    /// The event of a grant, and the copy that a submission may have asked for. The grant's own submission may come
    /// again, in another record.
    public static func telling(of grant: GrantReference, to submission: SubmissionID) -> [OutboxKey] {
        [.granted(grant, repeatOf: nil), .granted(grant, repeatOf: submission)]
    }

    public var target: OutboxTarget {
        switch self {
        case .granted: .topic(.granted)
        case .failed: .topic(.failed)
        case .pending: .topic(.pending)
        case .quarantined: .topic(.quarantined)
        }
    }

    /// The form of a column: the kind, then the named ids. It never changes.
    public var text: String {
        switch self {
        case .granted(let grant, nil): "granted:\(grant.environment.rawValue):\(grant.transactionID)"
        case .granted(let grant, let submission?):
            "granted:\(grant.environment.rawValue):\(grant.transactionID):\(submission)"
        // The length keeps two pairs of texts from running into the same key.
        case .failed(let key): "failed:\(key.bundleID.rawValue.utf8.count):\(key.bundleID):\(key.submissionID)"
        case .pending(let key): "pending:\(key.digest.hex)"
        case .quarantined(let origin, let digest):
            "quarantined:\(origin.partition):\(origin.offset):\(digest.hex):\(origin.topic)"
        }
    }

    /// A key as a column has it; nil for the word of a later version.
    public init?(text: String) {
        var rest = text[...]
        func part() -> Substring? {
            guard let end = rest.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            defer { rest = rest[rest.utf8.index(after: end)...] }
            return rest[..<end]
        }
        guard let kind = part() else { return nil }
        if kind == "pending" {
            guard let digest = SHA256Digest(hex: rest.utf8) else { return nil }
            self = .pending(RetryKey(digest))
            return
        }
        guard let first = part() else { return nil }
        switch kind {
        case "granted":
            guard let environment = Environment(rawValue: String(first)) else { return nil }
            let transaction = part()
            self = .granted(
                GrantReference(environment: environment, transactionID: TransactionID(String(transaction ?? rest))),
                repeatOf: transaction == nil ? nil : SubmissionID(String(rest)))
        case "failed":
            guard let count = Int(first), count >= 0, rest.utf8.count > count else { return nil }
            let end = rest.utf8.index(rest.startIndex, offsetBy: count)
            guard let app = String(rest.utf8[..<end]), rest.utf8[end] == UInt8(ascii: ":") else { return nil }
            let submission = SubmissionID(String(rest[rest.utf8.index(after: end)...]))
            self = .failed(SubmissionKey(bundleID: BundleID(app), submissionID: submission))
        case "quarantined":
            guard let partition = Int32(first), let offset = part().flatMap({ Int64($0) }),
                let digest = part().flatMap({ SHA256Digest(hex: $0.utf8) })
            else { return nil }
            self = .quarantined(Origin(topic: String(rest), partition: partition, offset: offset), digest)
        default: return nil
        }
    }
}

extension QuarantineStub {
    public var outboxKey: OutboxKey { .quarantined(origin, digest) }

    /// Of a record whose decision the ledger refuses, and cannot hold either.
    public init(refused subject: Decision.Subject) {
        let (digest, receivedAt) =
            switch subject {
            case .submission(let submission): (ClaimDigest(of: submission), submission.receivedAt)
            case .malformed(let malformed): (malformed.digest, malformed.receivedAt)
            }
        self.init(
            origin: subject.origin, reason: QuarantineReason.refusedByLedger.words, timestamp: receivedAt,
            digest: digest.digest, size: 0)
    }
}

extension OutboxTarget {
    /// The form of a column: `topic:granted` or `service:com.example.game`. It never changes.
    public var text: String {
        switch self {
        case .topic(let topic): "topic:\(topic.rawValue)"
        case .service(let app): "service:\(app)"
        }
    }

    /// A target as a column has it; nil for the word of a later version.
    public init?(text: String) {
        if text.hasPrefix("topic:"), let topic = Topic(rawValue: String(text.dropFirst(6))) {
            self = .topic(topic)
        } else if text.hasPrefix("service:") {
            self = .service(BundleID(String(text.dropFirst(8))))
        } else {
            return nil
        }
    }
}

/// An event as rendered from its stored row, with the key under which the outbox keeps it if the broker does not take
/// it.
public struct RenderedEvent: Hashable, Sendable {
    public let key: OutboxKey
    public let event: Event

    public init(key: OutboxKey, event: Event) {
        self.key = key
        self.event = event
    }
}

/// A row's step: a call comes before the event that it is about.
public enum OutboxStep: String, Hashable, Sendable {
    case call
    case publish
}

/// Where a row's next step goes, and so which gate lets it go.
public enum OutboxTarget: Hashable, Sendable {
    case topic(Topic)
    case service(BundleID)
}

/// A row for an event that no uncommitted offset covers: the broker did not take it in time.
public struct OutboxEntry: Hashable, Sendable {
    /// The write counts only under this ownership.
    public let ownership: PartitionOwnership
    public let key: OutboxKey
    /// Milliseconds until it is due.
    public let delay: Int64
    /// A quarantined record's stub: only its words are kept of the record.
    public let stub: QuarantineStub?

    public init(ownership: PartitionOwnership, key: OutboxKey, delay: Int64, stub: QuarantineStub?) {
        self.ownership = ownership
        self.key = key
        self.delay = delay
        self.stub = stub
    }
}

/// A row of the outbox that one worker has under a lease.
public struct OutboxLease: Hashable, Sendable {
    public let key: OutboxKey
    public let step: OutboxStep
    public let number: Int64

    public init(key: OutboxKey, step: OutboxStep, number: Int64) {
        self.key = key
        self.step = step
        self.number = number
    }
}

/// A due row of the outbox, with what its step needs, rendered from the row that it refers to.
public struct OutboxItem: Hashable, Sendable {
    public enum Work: Hashable, Sendable {
        case publish(Event)
        case call(Grant)
    }

    public let lease: OutboxLease
    public let attempts: Int
    public let work: Work

    public init(lease: OutboxLease, attempts: Int, work: Work) {
        self.lease = lease
        self.attempts = attempts
        self.work = work
    }
}

/// The end of a step, for the row of its lease. Under a lease that has ended it changes nothing.
public enum OutboxReport: Hashable, Sendable {
    /// Published: the row is deleted.
    case published(OutboxLease)
    /// The service has said yes: the row's step is `publish` now, due at once.
    case called(OutboxLease)
    /// Not this time: due again after so many milliseconds.
    case postponed(OutboxLease, delay: Int64, after: OutboxTry = .failed)

    public var lease: OutboxLease {
        switch self {
        case .published(let lease), .called(let lease), .postponed(let lease, _, _): lease
        }
    }
}

/// The end of a step that is due again.
public enum OutboxTry: Hashable, Sendable {
    /// No call was made, so none counts.
    case notMade
    /// The broker did not take the event.
    case failed
    /// The fulfilment service said no, or nothing.
    case answered(ServiceAnswer)

    /// How many attempts it counts as.
    public var attempts: Int64 { self == .notMade ? 0 : 1 }
    /// The form of the row's column; nil leaves the present value.
    public var reason: String? { if case .answered(let answer) = self { answer.text } else { nil } }
}

/// A fulfilment service's latest answer about a grant, if that was no yes.
public struct ServiceAnswer: Hashable, Sendable {
    /// The service answers, and does not take this grant. Else the fault is the service's or the way's.
    public let isRefusal: Bool
    /// For people, without a full stop: `HTTP 422`.
    public let words: String

    public init(isRefusal: Bool, _ words: String) {
        self.isRefusal = isRefusal
        self.words = words
    }

    static let refused = "refused: "
    private static let failed = "failed: "
    /// The condition of a column that has a refusal.
    public static let isRefusalInSQL = "reason LIKE '\(refused)%'"

    /// The form of a column. It never changes.
    public var text: String { (isRefusal ? Self.refused : Self.failed) + words }

    /// An answer as a column has it.
    public init(text: String) {
        isRefusal = text.hasPrefix(Self.refused)
        words = String(
            text.dropFirst(isRefusal ? Self.refused.count : text.hasPrefix(Self.failed) ? Self.failed.count : 0))
    }
}

/// How much of the outbox is due.
public struct OutboxRequest: Hashable, Sendable {
    public let target: OutboxTarget
    public let limit: Int

    public init(target: OutboxTarget, limit: Int) {
        self.target = target
        self.limit = limit
    }
}
