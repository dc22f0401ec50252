import Contract
import Ledger

/// A ledger's tables. A copy is the ledger as it was, which a test may set it back to.
public final class ModelTables {
    struct Partition: Hashable, Sendable {
        var owner: String?
        var generation: Generation?
        var next: Int64?
        var passed: Int64?
        var starts = 0
        var marked: Int64?
        var suspect: CheckSuspect?

        /// The group had an offset of it, and the ledger had none of its topic.
        var isRefused: Bool { generation == nil && next == nil }
    }

    struct Owed: Hashable, Sendable {
        let sequence: Int64
        var step: OutboxStep
        var target: OutboxTarget
        var dueAt: Int64
        var owedSince: Int64
        var attempts = 0
        var lease: Int64 = 0
        var leasedUntil: Int64?
        /// Of a call: the service's latest answer.
        var answer: ServiceAnswer?
        let stub: QuarantineStub?
    }

    public internal(set) var id: String
    var group: ConsumerGroup?
    var partitions: [TopicPartition: Partition] = [:]
    /// By sequence, from 1; nil where a transaction took one back.
    private(set) var grants: [Grant?] = [nil]
    /// Apps that a grant was tried for.
    private var grantedApps: Set<BundleID> = []
    private var byReference: [GrantReference: Int] = [:]
    private var byKey: [GrantKey: Int] = [:]
    private var bySubmission: [SubmissionKey: [Int]] = [:]
    private var byOrigin: [Origin: [Int]] = [:]
    private(set) var answers: [SubmissionKey: (sequence: Int64, answer: Answer)] = [:]
    private var answersByOrigin: [Origin: Set<SubmissionKey>] = [:]
    private(set) var retries = ModelRetries()
    private var retriesByOrigin: [Origin: Set<RetryKey>] = [:]
    /// The highest offset of a row's record; -1 for none, nil where it has to be computed.
    private var highestOrigins: [TopicPartition: Int64] = [:]
    var outbox: [OutboxKey: Owed] = [:]
    var actions: [OperatorAction] = []
    /// When each worker gave its last sign.
    private var workers: [Int64: (sign: WorkerSign, startedAt: Int64, seenAt: Int64)] = [:]
    private var lastSequence: Int64 = 0
    private var lastLease: Int64 = 0

    public init(id: String) { self.id = id }

    /// The tables as they are now.
    public init(copying other: ModelTables) {
        id = other.id
        group = other.group
        grantedApps = other.grantedApps
        partitions = other.partitions
        grants = other.grants
        byReference = other.byReference
        byKey = other.byKey
        bySubmission = other.bySubmission
        byOrigin = other.byOrigin
        answers = other.answers
        answersByOrigin = other.answersByOrigin
        retries = other.retries
        retriesByOrigin = other.retriesByOrigin
        highestOrigins = other.highestOrigins
        outbox = other.outbox
        actions = other.actions
        workers = other.workers
        lastSequence = other.lastSequence
        lastLease = other.lastLease
    }

    /// Takes a worker's sign, and says how many live.
    func sign(of worker: WorkerSign, now: Int64) -> Int {
        workers[worker.id] = (worker, workers[worker.id]?.startedAt ?? now, now)
        let living = WorkerSign.living(at: Timestamp(milliseconds: now))
        return workers.values.count { living.contains($0.seenAt) }
    }

    func workerRows(now: Int64) -> [WorkerRow] {
        workers.values.map { worker in
            WorkerRow(
                name: worker.sign.name, version: worker.sign.version,
                startedAt: Timestamp(milliseconds: worker.startedAt), seenAt: Timestamp(milliseconds: worker.seenAt),
                isLive: WorkerSign.living(at: Timestamp(milliseconds: now)).contains(worker.seenAt))
        }.sorted { $0.name < $1.name }
    }

    func forget(_ worker: WorkerSign) { workers[worker.id] = nil }

    /// Some rows of `retries`: those that Apple has signed first, unless they are held, and of these the longest due.
    func due(_ isWanted: (ModelRetries.Row) -> Bool) -> [RetryKey] {
        let found = retries.rows.indices.filter { isWanted(retries.rows[$0]) }
        func place(_ index: Int) -> (Int, Int64, Int64) {
            let row = retries.rows[index]
            return (row.entry.isSigned || row.entry.cause.endpoint == nil ? 0 : 1, row.dueAt, row.sequence)
        }
        return found.sorted { place($0) < place($1) }.map { retries.rows[$0].key }
    }

    /// The row whose lease has ended first, of those that are suspect with their next taking.
    func suspect(at now: Int64) -> RetryKey? {
        guard retries.rows.contains(where: \.isSuspectNext) else { return nil }
        return retries.rows.filter { $0.isSuspectNext && $0.leasedUntil ?? .max <= now }
            .min { ($0.dueAt, $0.sequence) < ($1.dueAt, $1.sequence) }?.key
    }

    /// Some rows of the outbox, the longest due first.
    func owed(_ isWanted: (Owed) -> Bool) -> [OutboxKey] {
        guard !outbox.isEmpty else { return [] }
        var found: [(dueAt: Int64, sequence: Int64, key: OutboxKey)] = []
        for (key, row) in outbox where isWanted(row) { found.append((row.dueAt, row.sequence, key)) }
        if found.count > 1 { found.sort { ($0.dueAt, $0.sequence) < ($1.dueAt, $1.sequence) } }
        return found.map(\.key)
    }

    private func nextSequence() -> Int64 {
        lastSequence += 1
        return lastSequence
    }

    /// A number for a lease that this ledger has not given before.
    func nextLease() -> Int64 {
        lastLease += 1
        return lastLease
    }

    // MARK: Grants

    /// Adds a grant unless its transaction or its key is taken.
    func insert(_ grant: Grant) -> Bool {
        grantedApps.insert(grant.bundleID)
        guard byReference[grant.reference] == nil, byKey[grant.key] == nil else { return false }
        let sequence = grants.count
        grants.append(grant)
        byReference[grant.reference] = sequence
        byKey[grant.key] = sequence
        bySubmission[grant.claimant.submissionKey, default: []].append(sequence)
        byOrigin[grant.origin, default: []].append(sequence)
        noteOrigin(grant.origin)
        return true
    }

    func withdraw(_ reference: GrantReference) {
        guard let sequence = byReference.removeValue(forKey: reference), let grant = grants[sequence] else { return }
        grants[sequence] = nil
        byKey[grant.key] = nil
        bySubmission[grant.claimant.submissionKey]?.removeAll { $0 == sequence }
        byOrigin[grant.origin]?.removeAll { $0 == sequence }
        forgetOrigin(grant.origin)
    }

    /// Puts pseudonyms in the place of the ids in a grant.
    func replace(_ erased: ErasedGrant) {
        let index = Int(erased.place)
        guard let former = grants[index] else { return }
        let grant = former.with(
            Claimant(
                submissionID: erased.submissionID, userID: erased.userID, bundleID: former.bundleID,
                orderID: erased.orderID, traceparent: nil))
        grants[index] = grant
        bySubmission[former.claimant.submissionKey]?.removeAll { $0 == index }
        bySubmission[grant.claimant.submissionKey, default: []].append(index)
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

    func ownGrants(of key: SubmissionKey) -> [Grant] { (bySubmission[key] ?? []).compactMap { grants[$0] } }

    func grants(of key: SubmissionKey) -> [StoredGrant] { ownGrants(of: key).map(stored) }

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

    /// Adds an answer; an existing one stays.
    /// - Returns: Whether it is new.
    func insert(_ new: NewAnswer) -> Bool {
        let key = new.answer.claimant.submissionKey
        if new.replaces, let before = answers.removeValue(forKey: key) {
            answersByOrigin[before.answer.origin]?.remove(key)
            forgetOrigin(before.answer.origin)
        }
        guard answers[key] == nil else { return false }
        answers[key] = (nextSequence(), new.answer)
        answersByOrigin[new.answer.origin, default: []].insert(key)
        noteOrigin(new.answer.origin)
        return true
    }

    func deleteAnswer(_ key: SubmissionKey) {
        guard let before = answers.removeValue(forKey: key) else { return }
        answersByOrigin[before.answer.origin]?.remove(key)
        forgetOrigin(before.answer.origin)
    }

    func answers(at origin: Origin) -> [Answer] {
        (answersByOrigin[origin] ?? []).sorted().compactMap { answers[$0]?.answer }
    }

    // MARK: Retries

    func insert(_ new: NewRetry, now: Int64) {
        guard !retries.contains(new.key) else { return }
        retries.insert(
            ModelRetries.Row(
                key: new.key, sequence: nextSequence(), submission: new.submission, entry: new.entry,
                attempts: new.attempts, dueAt: now + new.entry.delay))
        retriesByOrigin[new.submission.origin, default: []].insert(new.key)
        noteOrigin(new.submission.origin)
    }

    func change(_ key: RetryKey, _ body: (inout ModelRetries.Row) -> Void) { retries.change(key, body) }

    func end(_ lease: RetryLease) {
        guard retries.isOwned(lease), let origin = retries[lease.key]?.submission.origin else { return }
        retries.remove(lease.key)
        retriesByOrigin[origin]?.remove(lease.key)
        forgetOrigin(origin)
    }

    func waiting(at origin: Origin) -> [WaitingRow] { (retriesByOrigin[origin] ?? []).compactMap(waiting) }

    func waiting(_ key: RetryKey) -> WaitingRow? {
        guard let row = retries[key]?.waiting else { return nil }
        let submission = row.pending.claimant.submissionKey
        let answers = [answer(submission)].compactMap { $0 }
        return WaitingRow.judged(
            [row], grants: FoundGrants(known: grants(of: submission)), answers: FoundAnswers(known: answers)
        ).first
    }

    /// The apps among these of which the ledger has granted purchases, or has submissions in `retries`.
    func ours(_ apps: Set<BundleID>) -> Set<BundleID> {
        apps.filter { app in grantedApps.contains(app) || retries.rows.contains { $0.submission.bundleID == app } }
    }

    /// Rows that are due later than a moment are due then.
    func cap(at moment: Int64) {
        for key in retries.rows.filter({ $0.dueAt > moment }).map(\.key) {
            retries.change(key) {
                $0.dueAt = moment
                if $0.leasedUntil != nil { $0.leasedUntil = moment }
            }
        }
        for (key, row) in outbox where row.dueAt > moment {
            outbox[key]?.dueAt = moment
            if row.leasedUntil != nil { outbox[key]?.leasedUntil = moment }
        }
    }

    // MARK: Partitions

    /// Whether the group's offsets of a topic stop a worker. The ledger does not know the partition then, and has none
    /// of its topic, or one was refused before.
    func refuses(_ partition: TopicPartition) -> Bool {
        guard partitions[partition]?.isRefused ?? true else { return false }
        let topic = partitions.filter { $0.key.topic == partition.topic }.map(\.value)
        return topic.contains(where: \.isRefused) || !topic.contains { $0.next != nil }
    }

    // MARK: Outbox

    /// Calls that are owed, by app.
    var calls: [LedgerMeasure.Calls] {
        let rows = Dictionary(grouping: outbox.values.filter { $0.step == .call }, by: \.target)
        return rows.sorted { $0.key.text < $1.key.text }.compactMap { target, rows in
            LedgerMeasure.Calls(
                of: target, rows: rows.count, refused: rows.count { $0.answer?.isRefusal == true },
                oldest: rows.filter { $0.answer?.isRefusal != true }.map(\.owedSince).min())
        }
    }

    func owe(_ new: NewOutboxRow, now: Int64) {
        if let there = outbox[new.key] {
            guard case .pending = new.key, there.leasedUntil != nil else { return }
            outbox[new.key]?.lease = nextLease()
            outbox[new.key]?.leasedUntil = nil
            outbox[new.key]?.dueAt = now
            outbox[new.key]?.owedSince = now
            return
        }
        outbox[new.key] = Owed(
            sequence: nextSequence(), step: new.step, target: new.target, dueAt: now + new.delay,
            owedSince: now + new.delay, stub: new.stub)
    }

    // MARK: Origins

    private func noteOrigin(_ origin: Origin) {
        if let known = highestOrigins[origin.topicPartition], known < origin.offset {
            highestOrigins[origin.topicPartition] = origin.offset
        }
    }

    private func forgetOrigin(_ origin: Origin) {
        if highestOrigins[origin.topicPartition] == origin.offset { highestOrigins[origin.topicPartition] = nil }
    }

    func highestOrigin(of partition: TopicPartition) -> Int64? {
        let highest = highestOrigins[partition] ?? foundHighestOrigin(of: partition)
        highestOrigins[partition] = highest
        return highest < 0 ? nil : highest
    }

    private func foundHighestOrigin(of partition: TopicPartition) -> Int64 {
        var highest: Int64 = -1
        func consider(_ origin: Origin, isEmpty: Bool) {
            guard !isEmpty, origin.offset > highest, origin.topicPartition == partition else { return }
            highest = origin.offset
        }
        for (origin, rows) in byOrigin { consider(origin, isEmpty: rows.isEmpty) }
        for (origin, rows) in answersByOrigin { consider(origin, isEmpty: rows.isEmpty) }
        for (origin, rows) in retriesByOrigin { consider(origin, isEmpty: rows.isEmpty) }
        return highest
    }
}

extension Grant {
    /// The same grant, to somebody by other ids.
    fileprivate func with(_ claimant: Claimant) -> Grant {
        Grant(
            key: key, transactionID: transactionID, originalTransactionID: originalTransactionID,
            webOrderLineItemID: webOrderLineItemID, product: product, quantity: quantity, purchasedAt: purchasedAt,
            expiresAt: expiresAt, ownership: ownership, payment: payment, offer: offer, verifiedBy: verifiedBy,
            claimant: claimant, origin: origin, receivedAt: receivedAt, grantedAt: grantedAt, attempts: attempts,
            format: format, passedOver: passedOver)
    }
}
