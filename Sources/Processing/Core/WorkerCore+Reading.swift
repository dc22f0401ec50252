import Contract
import Ledger

/// Records are taken in, compared with known outcomes, and checked.
extension WorkerCore {
    mutating func received(_ batch: RecordBatch, into actions: inout Actions) {
        var bytes: Int64 = 0
        for record in batch.records { bytes += Int64(record.byteCount) }
        limit.noteDelivered(records: batch.records.count, bytes: bytes)
        guard stopping == .running, let place = partitions.place(of: batch.assignment),
            partitions[place].state == .owned, let first = batch.records.first
        else { return }
        let isFirst = partitions[place].tracker.last == nil
        if isFirst { partitions[place].poison.beginReading(at: first.origin.offset) }
        let (assignment, ownership) = (partitions[place].assignment, partitions[place].ownership)
        let highest = partitions[place].highestOrigin ?? -1
        let (poison, isOneByOne) = (partitions[place].poison.offset, partitions[place].poison.isOneByOne)
        var loading: [SubmissionToken] = []
        for record in batch.records {
            guard let number = partitions[place].tracker.register(record.origin.offset) else {
                // The topic was made anew, or lost its end. Everything in flight belongs to the old one.
                wentBack(place, into: &actions)
                return
            }
            let token = admit(record, .record(place: place, assignment, number: number, ownership))
            // The poison record may have its outcome, which nobody was told of.
            let isPoison = record.origin.offset == poison
            if isOneByOne, !isPoison {
                move(token, to: .marking)
                flights[token].record = record
                partitions[place].poison.enqueue(token)
            } else {
                let mayBeKnown = isPoison || record.origin.offset <= highest
                begin(token, record, mayBeKnown: mayBeKnown, loading: &loading, into: &actions)
            }
        }
        load(loading, into: &actions)
        if isOneByOne { checkNextSuspect(at: place, into: &actions) }
        // A first record behind the noted offset is noted: the topic may be a new one.
        if isFirst { scheduleNote() }
    }

    private mutating func admit(_ record: InputRecord, _ source: FlightSource) -> SubmissionToken {
        var flight = Flight(source)
        flight.bytes = Int64(record.byteCount)
        limit.take(.record, bytes: flight.bytes)
        return flights.insert(flight)
    }

    /// Checks records that have waited for that, behind their outcomes where they may be redeliveries.
    mutating func begin(_ tokens: [SubmissionToken], at place: Int, into actions: inout Actions) {
        let highest = partitions[place].highestOrigin ?? -1
        var loading: [SubmissionToken] = []
        for token in tokens {
            guard let record = flights[token].record else { continue }
            begin(
                token, record, mayBeKnown: record.origin.offset <= highest, loading: &loading, into: &actions)
        }
        load(loading, into: &actions)
    }

    /// Checks a record, or adds it to those whose outcomes are asked for before that.
    private mutating func begin(
        _ token: SubmissionToken, _ record: InputRecord, mayBeKnown: Bool, loading: inout [SubmissionToken],
        into actions: inout Actions
    ) {
        guard mayBeKnown else { return check(token, .record(record, known: nil), into: &actions) }
        move(token, to: .loading)
        flights[token].record = record
        loading.append(token)
    }

    /// Asks for the outcomes that the ledger has of these records.
    private mutating func load(_ tokens: [SubmissionToken], into actions: inout Actions) {
        guard !tokens.isEmpty else { return }
        let origins = tokens.compactMap { flights[$0].record?.origin }
        ledgerCalls.make(.knownOutcomes(origins), for: .knownOutcomes(tokens), at: now, into: &actions)
    }

    mutating func check(_ token: SubmissionToken, _ work: CheckTask.Work, into actions: inout Actions) {
        guard let rules else { return orphan(token) }
        if flights[token].isSuspect, !isMarked(token) { return awaitMark(token, work) }
        if case .answer = work { move(token, to: .reading) } else { move(token, to: .checking) }
        flights[token].record = nil
        actions.checks.append(CheckTask(token: token, work: work, rules: rules))
    }

    // MARK: Redeliveries

    /// The outcomes of a batch are known: each record is checked against the one at its place. The record whose check
    /// ends workers is quarantined unread.
    mutating func outcomesLoaded(
        _ tokens: [SubmissionToken], _ outcomes: [KnownOutcome], into actions: inout Actions
    ) {
        var byOrigin: [Origin: KnownOutcome] = [:]
        for outcome in outcomes { byOrigin[outcome.origin] = outcome }
        for token in tokens where flights.contains(token) && flights[token].state == .loading {
            guard let record = flights[token].record else { continue }
            let known = byOrigin[record.origin]
            flights[token].known = known
            if endsWorkers(token, record) {
                actions.alerts.append(.recordEndsWorkers(record.origin))
                check(token, .quarantine(record, reason: "its check has ended workers"), into: &actions)
            } else {
                check(token, .record(record, known: known), into: &actions)
            }
        }
    }

    private func endsWorkers(_ token: SubmissionToken, _ record: InputRecord) -> Bool {
        guard case .record(let place, let assignment, _, _) = flights[token].source,
            partitions.isCurrent(assignment, at: place)
        else { return false }
        return partitions[place].poison.offset == record.origin.offset
    }

    // MARK: Results of checks

    mutating func checkEnded(_ checked: Checked, into actions: inout Actions) {
        let token = checked.token
        guard flights.contains(token) else { return }
        let source = flights[token].source
        defer { checkHasEnded(token, source, into: &actions) }
        switch (flights[token].state, checked.result) {
        case (.checking, .unreadable(let event, let stub)): quarantine(token, event, stub, into: &actions)
        case (.checking, .known(let repeats)): redelivered(token, repeats, into: &actions)
        case (.checking, .malformed(let malformed)): self.malformed(token, malformed)
        case (.checking, .submission(let submission, let rules, let check)):
            flights[token].subject = .submission(submission)
            flights[token].rules = rules
            flights[token].known = nil
            switch check {
            case .concluded(let verdict): conclude(token, verdict, into: &actions)
            case .ask(let question, let lookUp, let isSigned): ask(token, question, lookUp, isSigned: isSigned)
            }
        case (.checking, .signature(let holds, let verdict)):
            signatureChecked(token, holds, verdict, into: &actions)
        case (.reading, .answer(let result)): attemptLed(token, to: result, into: &actions)
        default: return
        }
    }

    /// No submission can be read from a record: it goes to the quarantine topic. A worker may have ended before it told
    /// of an outcome that stands at the record's place, so the outcome is told as well. A repeat is not, because its
    /// app's wish is not known.
    private mutating func quarantine(
        _ token: SubmissionToken, _ event: Event, _ stub: QuarantineStub, into actions: inout Actions
    ) {
        guard case .record(_, _, _, let ownership) = flights[token].source else { return leave(token) }
        let entry = OutboxEntry(ownership: ownership, key: stub.outboxKey, delay: 0, stub: stub)
        let known = flights[token].known
        flights[token].known = nil
        let outcome = known?.kind == .repeated ? [] : known?.publish ?? []
        move(token, to: .publishing)
        flights[token].unpublished = 1 + outcome.count
        publish(event, .submission(token), entry, into: &actions)
        for stored in outcome {
            let entry = OutboxEntry(ownership: ownership, key: stored.key, delay: 0, stub: nil)
            publish(stored.event, .submission(token), entry, into: &actions)
        }
    }

    /// A redelivery is told again, from the rows that the ledger has. Nothing is told while a call is owed, or while it
    /// waits.
    private mutating func redelivered(
        _ token: SubmissionToken, _ repeats: RepeatPolicy, into actions: inout Actions
    ) {
        let known = flights[token].known
        flights[token].known = nil
        let isUnwanted = known?.kind == .repeated && repeats == .ignore
        publish(token, isUnwanted ? [] : known?.publish ?? [], into: &actions)
    }

    private mutating func malformed(_ token: SubmissionToken, _ malformed: MalformedSubmission) {
        flights[token].subject = .malformed(malformed)
        decide(token, .fail(malformed.rejection))
    }
}
