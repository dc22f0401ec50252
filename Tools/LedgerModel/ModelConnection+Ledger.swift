public import Contract
public import Ledger

extension ModelConnection: LedgerConnection {
    public func identity() throws(LedgerError) -> String {
        try call(.identity) { model.tables.id }
    }

    public func bind(to group: ConsumerGroup) throws(LedgerError) -> ConsumerGroup {
        try call(.bind) {
            let owner = model.tables.group ?? group
            model.tables.group = owner
            return owner
        }
    }

    // MARK: Partitions

    public func takeOver(_ requests: [TakeOver]) throws(LedgerError) -> [TakeOverResult] {
        try call(.takeOver) { requests.map(takeOver) }
    }

    private func takeOver(_ request: TakeOver) -> TakeOverResult {
        let partition = request.ownership.partition
        var row = model.tables.partitions[partition] ?? ModelTables.Partition()
        guard !request.isTopicCommitted || !model.tables.refuses(partition) else {
            model.tables.partitions[partition] = row
            return .forgotten(ledger: model.tables.id)
        }
        if let passed = row.passed, request.committed.map({ $0 >= passed }) ?? true { row.passed = nil }
        if row.generation != request.ownership.generation {
            row.starts += 1
            if let marked = row.marked {
                let before = row.suspect?.offset == marked ? row.suspect?.ends ?? 0 : 0
                row.suspect = CheckSuspect(offset: marked, ends: before + 1)
            }
            row.marked = nil
        }
        row.owner = request.owner
        row.generation = request.ownership.generation
        model.tables.partitions[partition] = row
        return .taken(
            PartitionStart(
                next: row.next, passed: row.passed, highestOrigin: model.tables.highestOrigin(of: partition),
                starts: row.starts,
                suspect: row.suspect))
    }

    public func checkpoint(_ checkpoints: [OffsetCheckpoint]) throws(LedgerError) -> [Bool] {
        try call(.checkpoint) {
            checkpoints.map { checkpoint in
                guard isOwned(checkpoint.ownership), var row = model.tables.partitions[checkpoint.ownership.partition]
                else {
                    return false
                }
                if row.next != checkpoint.next { row.starts = 0 }
                if checkpoint.next == nil { (row.starts, row.suspect) = (0, nil) }
                if let next = checkpoint.next {
                    if let marked = row.marked, marked < next { row.marked = nil }
                    if let suspect = row.suspect, suspect.offset < next { row.suspect = nil }
                    if let passed = row.passed, next < passed { row.passed = nil }
                    row.next = next
                }
                model.tables.partitions[checkpoint.ownership.partition] = row
                return true
            }
        }
    }

    public func mark(_ marks: [CheckMark]) throws(LedgerError) -> [Bool] {
        try call(.mark) {
            marks.map { mark in
                guard isOwned(mark.ownership), var row = model.tables.partitions[mark.ownership.partition] else {
                    return false
                }
                if let ended = mark.ended, row.suspect?.offset == ended { row.suspect = nil }
                row.marked = mark.begins
                model.tables.partitions[mark.ownership.partition] = row
                return true
            }
        }
    }

    // MARK: Look-ups

    public func knownOutcomes(of origins: [Origin]) throws(LedgerError) -> [KnownOutcome] {
        try call(.knownOutcomes) {
            let answers = FoundAnswers(known: origins.flatMap { model.tables.answers(at: $0) })
            let waiting = origins.flatMap { model.tables.waiting(at: $0) }
            return KnownOutcomes(
                grants: FoundGrants(known: origins.flatMap { model.tables.grants(at: $0) }),
                answers: answers,
                answering: FoundGrants(known: model.tables.holders(answers.answering)), waiting: waiting
            ).sorted
        }
    }

    public func lookUp(_ questions: [GrantLookup]) throws(LedgerError) -> [GrantReference?] {
        try call(.lookUp) {
            questions.map { question in
                Environment.allCases.lazy
                    .compactMap { environment in
                        self.model.tables.grant(
                            GrantReference(environment: environment, transactionID: question.transactionID))
                    }
                    .first(where: question.isAnswered)?.reference
            }
        }
    }

    // MARK: Decisions

    public func write(_ batch: [Decision]) throws(LedgerError) -> [DecisionResult] {
        try call(.write) {
            let refused = batch.map { model.refuses?($0) ?? false }
            var rest = zip(batch, refused).filter { !$0.1 }.map(\.0)
            var results = writeAll(rest)
            rest = []
            return refused.map { $0 ? .refused(detail: "refused by the model") : results.removeFirst() }
        }
    }

    private func writeAll(_ batch: [Decision]) -> [DecisionResult] {
        var planner = BatchPlanner(batch)
        planner.admit(
            batch.map { decision in
                switch decision.source {
                case .record(let ownership): isOwned(ownership)
                case .row(let lease): isOwned(lease)
                }
            })
        let fast = planner.fast
        planner.inserted(
            fast: fast,
            fast.map { new in
                model.tables.answers[new.grant.claimant.submissionKey] == nil && insert(new.grant)
            })
        guard !planner.isComplete else { return planner.results() }
        let answers = planner.submissions.compactMap { model.tables.answers[$0]?.answer }
        let tried = planner.readAnswers(FoundAnswers(known: answers))
        let hook = model.beforeInsertion
        model.beforeInsertion = nil
        hook?()
        planner.inserted(tried.map { insert($0.grant) })
        let questions = planner.questions
        let held = model.hidesHolders ? [] : model.tables.holders(questions.holders)
        model.hidesHolders = false
        let own = questions.submissions.flatMap { model.tables.grants(of: $0) }
        let told = planner.conclude(
            held: FoundGrants(known: held), own: FoundGrants(known: own), ours: model.tables.ours(questions.apps),
            waiting: Dictionary(
                uniqueKeysWithValues: questions.waiting.compactMap(model.tables.waiting).map {
                    ($0.key, $0)
                }))
        let between = model.beforeAnswering
        model.beforeAnswering = nil
        between?()
        conclude(&planner, told)
        return planner.results()
    }

    private func insert(_ grant: Grant) -> Bool {
        !model.heldElsewhere.contains(grant.reference) && model.tables.insert(grant)
    }

    /// Carries out all further writes once the planner has concluded.
    func conclude(_ planner: inout BatchPlanner, _ answers: [NewAnswer]) {
        let writes = planner.answered(answers.map { model.tables.insert($0) })
        for new in writes.withdrawn { model.tables.withdraw(new.grant.reference) }
        for retry in writes.retries { model.tables.insert(retry, now: now) }
        for update in writes.updatedRetries {
            model.tables.change(update.lease.key) {
                let isSigned = $0.entry.isSigned
                $0.entry = update.entry
                $0.entry.isSigned = isSigned
                $0.attempts = update.attempts
                $0.dueAt = now + update.entry.delay
                $0.leasedUntil = nil
                if update.entry.cause != .held(.endsWorkers) { $0.takings = 0 }
            }
        }
        for lease in writes.endedRetries { model.tables.end(lease) }
        for row in writes.outbox { model.tables.owe(row, now: now) }
    }

    // MARK: Leases

    public func takeDue(_ requests: [DueRequest], bytes: Int) throws(LedgerError) -> [DueRetry] {
        try call(.takeDue) {
            if let key = model.tables.suspect(at: now), let row = model.tables.retries[key] { return [lease(key, row)] }
            var left = bytes
            return requests.flatMap { takeDue($0, bytes: &left) }
        }
    }

    private func takeDue(_ request: DueRequest, bytes: inout Int) -> [DueRetry] {
        let due = model.tables.due { row in
            (request.beforeDue ? row.leasedUntil ?? .min <= now : row.dueAt <= now)
                && row.entry.cause.endpoint == request.endpoint && !row.isSuspectNext
        }
        var taken: [DueRetry] = []
        for key in due {
            guard taken.count < request.limit, bytes > 0, let row = model.tables.retries[key] else { break }
            bytes -= row.submission.retainedBytes
            taken.append(lease(key, row))
        }
        return taken
    }

    /// Takes a row, whoever has it.
    func lease(_ key: RetryKey, _ row: ModelRetries.Row) -> DueRetry {
        let number = model.tables.nextLease()
        model.tables.change(key) {
            $0.lease = number
            $0.takings += 1
            $0.dueAt = now + leaseMilliseconds
            $0.leasedUntil = $0.dueAt
        }
        return DueRetry(
            lease: RetryLease(key: key, number: number), submission: row.submission, attempts: row.attempts,
            cause: row.entry.cause, history: row.entry.history, doubt: row.entry.doubt, takings: row.takings + 1)
    }

    public func renew(_ renewals: [LeaseRenewal]) throws(LedgerError) -> [Bool] {
        try call(.renew) {
            renewals.map { renewal in
                let lease = renewal.lease
                guard isOwned(lease), model.tables.retries[lease.key]?.leasedUntil != nil else { return false }
                model.tables.change(lease.key) {
                    $0.takings = renewal.takings
                    $0.dueAt = now + leaseMilliseconds
                    $0.leasedUntil = $0.dueAt
                }
                return true
            }
        }
    }

    public func giveBack(retries: [RetryLease], outbox: [OutboxLease]) throws(LedgerError) {
        try call(.giveBack) {
            for lease in retries where isOwned(lease) && model.tables.retries[lease.key]?.leasedUntil != nil {
                model.tables.change(lease.key) {
                    $0.dueAt = now
                    $0.leasedUntil = nil
                    $0.takings = 0
                }
            }
            for lease in outbox where isOwned(lease) && model.tables.outbox[lease.key]?.leasedUntil != nil {
                model.tables.outbox[lease.key]?.dueAt = now
                model.tables.outbox[lease.key]?.leasedUntil = nil
            }
        }
    }

    // MARK: Outbox

    public func owe(_ entries: [OutboxEntry]) throws(LedgerError) -> [Bool] {
        try call(.owe) {
            entries.map { entry in
                guard isOwned(entry.ownership) else { return false }
                if let key = entry.key.failure {
                    guard case .failed? = model.tables.answer(key) else { return false }
                }
                model.tables.owe(NewOutboxRow(entry), now: now)
                return true
            }
        }
    }

    public func takeOutbox(_ requests: [OutboxRequest]) throws(LedgerError) -> [OutboxItem] {
        try call(.takeOutbox) { requests.flatMap(takeOutbox) }
    }

    private func takeOutbox(_ request: OutboxRequest) -> [OutboxItem] {
        var items: [OutboxItem] = []
        var putOff = 0
        for key in model.tables.owed({ $0.dueAt <= now && $0.target == request.target }) {
            guard items.count < request.limit, putOff < OutboxColumns.mostPutOff, var row = model.tables.outbox[key]
            else { break }
            let work = work(key, row)
            if work == nil { putOff += 1 }
            if work == nil, isOver(key) {
                model.tables.outbox[key] = nil
                continue
            }
            row.dueAt = now + leaseMilliseconds
            if let work {
                row.lease = model.tables.nextLease()
                row.leasedUntil = row.dueAt
                let lease = OutboxLease(key: key, step: row.step, number: row.lease)
                items.append(OutboxItem(lease: lease, attempts: row.attempts, work: work))
            } else {
                row.leasedUntil = nil
                row.attempts += 1
            }
            model.tables.outbox[key] = row
        }
        return items
    }

    /// About an event that cannot be rendered: its submission no longer waits, its failure was pruned or erased, or its
    /// grant is an erased user's.
    private func isOver(_ key: OutboxKey) -> Bool {
        switch key {
        case .pending: true
        case .failed(let key): model.tables.answers[key] == nil
        case .granted(let reference, _): model.tables.grant(reference)?.isErased ?? false
        case .quarantined: false
        }
    }

    private func work(_ key: OutboxKey, _ row: ModelTables.Owed) -> OutboxItem.Work? {
        switch key {
        case .granted(let reference, let submission):
            guard let grant = model.tables.grant(reference), !grant.isErased else { return nil }
            return row.step == .call ? .call(grant) : .publish(GrantedEvent.event(of: grant, repeatOf: submission))
        case .failed(let key):
            guard case .failed(let failure)? = model.tables.answers[key]?.answer else { return nil }
            return .publish(FailedEvent.event(of: failure))
        case .pending(let key):
            guard let row = model.tables.waiting(key), !row.isAnswered else { return nil }
            return .publish(PendingEvent.event(of: row.pending))
        case .quarantined:
            return row.stub.map { .publish(QuarantinedEvent.event(of: $0)) }
        }
    }

    public func report(_ reports: [OutboxReport]) throws(LedgerError) {
        try call(.report) {
            for report in reports {
                switch report {
                case .published(let lease):
                    if isOwned(lease) { model.tables.outbox[lease.key] = nil }
                case .called(let lease):
                    guard isOwned(lease), var row = model.tables.outbox[lease.key] else { continue }
                    row.step = .publish
                    row.target = lease.key.target
                    row.dueAt = now
                    row.owedSince = now
                    row.leasedUntil = nil
                    row.attempts = 0
                    row.answer = nil
                    model.tables.outbox[lease.key] = row
                case .postponed(let lease, let delay, let tried):
                    guard isOwned(lease), var row = model.tables.outbox[lease.key] else { continue }
                    row.dueAt = now + delay
                    row.leasedUntil = nil
                    row.attempts += Int(tried.attempts)
                    if case .answered(let answer) = tried { row.answer = answer }
                    model.tables.outbox[lease.key] = row
                }
            }
        }
    }

    public func measure(as worker: WorkerSign) throws(LedgerError) -> LedgerMeasure {
        try call(.measure) {
            let workers = model.tables.sign(of: worker, now: now)
            let (apps, waiting) = model.tables.sizes
            let events = model.tables.outbox.values.filter { $0.step != .call }
            let measure = LedgerMeasure(
                retries: apps, waiting: waiting, held: model.tables.held, calls: model.tables.calls,
                outboxRows: model.tables.outbox.count,
                outboxAge: max(0, now - (events.map(\.owedSince).min() ?? now)), workers: workers,
                takenAt: Timestamp(milliseconds: now))
            model.tables.cap(at: now + longestDelayMilliseconds)
            return measure
        }
    }

    public func signOff(_ worker: WorkerSign) throws(LedgerError) { try call(.signOff) { model.tables.forget(worker) } }
}
