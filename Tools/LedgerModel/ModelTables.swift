import Contract
import Ledger

/// A ledger's tables as values: a copy is the ledger as it was, which a test may set it back to.
public struct ModelTables: Sendable {
    struct Partition: Hashable, Sendable {
        var owner: String?
        var generation: Generation?
        var next: Int64?
        var starts = 0
        var marked: Int64?
        var suspect: CheckSuspect?
    }

    struct Retry: Hashable, Sendable {
        let sequence: Int64
        let submission: Submission
        var entry: RetryEntry
        var attempts: Int
        var dueAt: Int64
        var lease: Int64 = 0
        var leasedUntil: Int64?
        var takings = 0

        var isSuspect: Bool { takings >= DueRetry.takingsOfSuspicion - 1 }
    }

    struct Owed: Hashable, Sendable {
        let sequence: Int64
        var step: OutboxStep
        var target: OutboxTarget
        var dueAt: Int64
        var attempts = 0
        var lease: Int64 = 0
        var leasedUntil: Int64?
        let stub: QuarantineStub?
    }

    public internal(set) var id: String
    var isAccepted = false
    var partitions: [TopicPartition: Partition] = [:]
    /// By sequence, from 1; nil where a transaction took one back.
    private(set) var grants: [Grant?] = [nil]
    private var byReference: [GrantReference: Int] = [:]
    private var byKey: [GrantKey: Int] = [:]
    private var bySubmission: [SubmissionKey: [Int]] = [:]
    private var byOrigin: [Origin: [Int]] = [:]
    private(set) var answers: [SubmissionKey: (sequence: Int64, answer: Answer)] = [:]
    private var answersByOrigin: [Origin: Set<SubmissionKey>] = [:]
    private(set) var retries: [RetryKey: Retry] = [:]
    private var retriesByOrigin: [Origin: Set<RetryKey>] = [:]
    var outbox: [OutboxKey: Owed] = [:]
    var actions: [OperatorAction] = []
    private var lastSequence: Int64 = 0

    public init(id: String) { self.id = id }

    /// Some rows of `retries`: those that Apple has signed first, and of these the longest due.
    func due(_ isWanted: (Retry) -> Bool) -> [RetryKey] {
        var found: [(place: (Int, Int64, Int64), key: RetryKey)] = []
        for (key, row) in retries where isWanted(row) {
            found.append(((row.entry.isSigned ? 0 : 1, row.dueAt, row.sequence), key))
        }
        if found.count > 1 { found.sort { $0.place < $1.place } }
        return found.map(\.key)
    }

    /// The suspect row whose lease has ended first.
    func suspect(at now: Int64) -> RetryKey? {
        retries.filter { $0.value.isSuspect && $0.value.leasedUntil ?? .max <= now }
            .min { ($0.value.dueAt, $0.value.sequence) < ($1.value.dueAt, $1.value.sequence) }?.key
    }

    /// Some rows of the outbox, the longest due first.
    func owed(_ isWanted: (Owed) -> Bool) -> [OutboxKey] {
        var found: [(dueAt: Int64, sequence: Int64, key: OutboxKey)] = []
        for (key, row) in outbox where isWanted(row) { found.append((row.dueAt, row.sequence, key)) }
        if found.count > 1 { found.sort { ($0.dueAt, $0.sequence) < ($1.dueAt, $1.sequence) } }
        return found.map(\.key)
    }

    private mutating func nextSequence() -> Int64 {
        lastSequence += 1
        return lastSequence
    }

    // MARK: Grants

    /// Adds a grant unless its transaction or its key is taken.
    mutating func insert(_ grant: Grant) -> Bool {
        guard byReference[grant.reference] == nil, byKey[grant.key] == nil else { return false }
        let sequence = grants.count
        grants.append(grant)
        byReference[grant.reference] = sequence
        byKey[grant.key] = sequence
        bySubmission[grant.claimant.submissionKey, default: []].append(sequence)
        byOrigin[grant.origin, default: []].append(sequence)
        return true
    }

    mutating func withdraw(_ reference: GrantReference) {
        guard let sequence = byReference.removeValue(forKey: reference), let grant = grants[sequence] else { return }
        grants[sequence] = nil
        byKey[grant.key] = nil
        bySubmission[grant.claimant.submissionKey]?.removeAll { $0 == sequence }
        byOrigin[grant.origin]?.removeAll { $0 == sequence }
    }

    func grant(_ reference: GrantReference) -> Grant? { byReference[reference].flatMap { grants[$0] } }

    func stored(_ grant: Grant) -> StoredGrant {
        StoredGrant(grant, owesCall: outbox[.granted(grant.reference, repeatOf: nil)]?.step == .call)
    }

    func holders(_ questions: [HolderQuestion]) -> [StoredGrant] {
        questions.flatMap { question in
            [byReference[question.reference], question.key.flatMap { byKey[$0] }]
                .compactMap { $0.flatMap { grants[$0] } }.map(stored)
        }
    }

    func grants(of key: SubmissionKey) -> [StoredGrant] {
        (bySubmission[key] ?? []).compactMap { grants[$0] }.map(stored)
    }

    func grants(at origin: Origin) -> [StoredGrant] {
        (byOrigin[origin] ?? []).compactMap { grants[$0] }.map(stored)
    }

    /// Newest first.
    var grantRows: [GrantRow] {
        grants.enumerated().reversed().compactMap { sequence, grant in
            grant.map { GrantRow(sequence: Int64(sequence), grant: $0) }
        }
    }

    // MARK: Answers

    mutating func insert(_ new: NewAnswer) {
        let key = new.answer.claimant.submissionKey
        if new.replaces, let before = answers.removeValue(forKey: key) {
            answersByOrigin[before.answer.origin]?.remove(key)
        }
        guard answers[key] == nil else { return }
        answers[key] = (nextSequence(), new.answer)
        answersByOrigin[new.answer.origin, default: []].insert(key)
    }

    func answers(at origin: Origin) -> [Answer] {
        (answersByOrigin[origin] ?? []).sorted().compactMap { answers[$0]?.answer }
    }

    // MARK: Retries

    mutating func insert(_ new: NewRetry, now: Int64) {
        guard retries[new.key] == nil else { return }
        retries[new.key] = Retry(
            sequence: nextSequence(), submission: new.submission, entry: new.entry, attempts: new.attempts,
            dueAt: now + new.entry.delay)
        retriesByOrigin[new.submission.origin, default: []].insert(new.key)
    }

    mutating func change(_ key: RetryKey, _ body: (inout Retry) -> Void) {
        guard let index = retries.index(forKey: key) else { return }
        body(&retries.values[index])
    }

    mutating func end(_ lease: RetryLease) {
        guard let row = retries[lease.key], row.lease == lease.number else { return }
        retries[lease.key] = nil
        retriesByOrigin[row.submission.origin]?.remove(lease.key)
    }

    func retries(at origin: Origin) -> [Submission] {
        (retriesByOrigin[origin] ?? []).compactMap { retries[$0]?.submission }
    }

    // MARK: Outbox

    mutating func owe(
        _ key: OutboxKey, _ step: OutboxStep, _ target: OutboxTarget, dueAt: Int64, stub: QuarantineStub? = nil
    ) {
        guard outbox[key] == nil else { return }
        outbox[key] = Owed(sequence: nextSequence(), step: step, target: target, dueAt: dueAt, stub: stub)
    }

    // MARK: Origins

    func highestOrigin(of partition: TopicPartition) -> Int64? {
        var highest: Int64?
        func consider(_ origin: Origin, isEmpty: Bool) {
            guard !isEmpty, origin.offset > highest ?? -1, origin.topicPartition == partition else { return }
            highest = origin.offset
        }
        for (origin, rows) in byOrigin { consider(origin, isEmpty: rows.isEmpty) }
        for (origin, rows) in answersByOrigin { consider(origin, isEmpty: rows.isEmpty) }
        for (origin, rows) in retriesByOrigin { consider(origin, isEmpty: rows.isEmpty) }
        return highest
    }
}
