import Contract
import Ledger
import LedgerModel
import Processing
import Scheduling

/// The drivers of a worker: they carry out the core's actions and return the results.
extension World {
    func carryOut(_ actions: inout Actions, _ life: Life) {
        if !actions.unassign.isEmpty {
            life.reading.removeAll { reading in
                actions.unassign.contains { $0.partition == reading.partition }
            }
        }
        for assignment in actions.assign { assign(assignment, life) }
        if let demand = actions.demand { life.demand = (demand.records, demand.bytes) }
        if !actions.assign.isEmpty || actions.demand != nil { wakeConsumer(life) }
        if !actions.fetchCommitted.isEmpty {
            let isAnswered = isHealthy || !chance(options.lostAcknowledgements)
            consumerNews(
                .committed(isAnswered ? kafka.committed(actions.fetchCommitted) : nil), life, after: 500...5000)
        }
        if !actions.commit.isEmpty {
            life.commitAt = after(latency(500...5000), since: life.commitAt)
            let terms = actions.commit.map { life.terms[$0.partition.partition] ?? 0 }
            events.insert(.commit(life, actions.commit, terms), due: life.commitAt)
            for (commit, term) in zip(actions.commit, terms) {
                let partition = Int(commit.partition.partition)
                guard kafka.takesOffsets(of: partition, from: life, term: term), let next = commit.offset
                else { continue }
                witness.commits(partition, from: kafka.partitions[partition].committed ?? 0, to: next, self)
            }
        }
        check(actions.checks, life)
        for task in actions.attempts {
            if !apple.isUnsent(task, at: milliseconds) {
                witness.asks(life.name, task.question.endpoint, options.callsPerSecond, at: now)
            }
            after(callLatency(task.question.endpoint), .attempt(life, task))
        }
        for task in actions.calls { after(latency(1000...100_000), .call(life, task)) }
        for batch in actions.writes {
            life.writerAt = after(latency(300...5000), since: life.writerAt)
            events.insert(.write(life, batch, epoch: life.writerEpoch), due: life.writerAt)
            life.batches[batch.id] = batch.decisions
            witness.writes(batch.decisions)
        }
        for request in actions.requests {
            life.sideAt = after(latency(200...2000), since: life.sideAt)
            events.insert(.request(life, request, epoch: life.sideEpoch), due: life.sideAt)
        }
        for task in actions.publishes { after(latency(500...20_000), .publish(life, task)) }
        for alert in actions.alerts {
            switch alert {
            case .outboxFull: witness.wasOutboxFull = true
            case .decisionRefused(let origin, let detail): witness.refused(origin, detail, options)
            case .ownershipLost: witness.hasLostOwnership = true
            default: break
            }
        }
        if let reason = actions.stop { stopped(life, reason) }
    }

    /// Microseconds until a call of Apple's ends.
    private func callLatency(_ endpoint: Endpoint) -> Int64 {
        // A client waits for ten seconds.
        if apple.outage(of: endpoint, at: milliseconds)?.isSilent == true { return 10_000_000 }
        return apple.isSlow(endpoint, at: milliseconds) ? random(2_000_000...9_000_000) : latency(1000...300_000)
    }

    private func assign(_ assignment: Assignment, _ life: Life) {
        let partition = assignment.partition.partition
        // A partition that was taken away in the meantime cannot be read.
        guard kafka.partitions[Int(partition)].owner === life,
            kafka.partitions[Int(partition)].term == life.terms[partition]
        else { return }
        life.reading.removeAll { $0.partition == partition }
        let position = assignment.start ?? 0
        let isOutOfRange = position > kafka.partitions[Int(partition)].records.count
        // A worker that has not noticed yet that the ledger is another one is no longer its owner.
        if !isOutOfRange, life.sideEpoch == epoch, !life.isLearning {
            witness.starts(Int(partition), at: position, self)
        }
        life.reading.append(
            Life.Reading(id: assignment.id, partition: partition, position: position, isOutOfRange: isOutOfRange))
    }

    private func check(_ tasks: [CheckTask], _ life: Life) {
        // Checkers take chunks, and end in any order.
        var rest = tasks[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Int(random(1...32)))
            rest = rest.dropFirst(chunk.count)
            if chunk.contains(where: endsWorkers) {
                after(latency(50...2000), .crash(life))
                continue
            }
            let checked = chunk.map { task in
                Checked(
                    token: task.token,
                    result: apple.check(task, records: script.records, at: milliseconds, &random))
            }
            after(latency(50...2000), .input(life, .checked(checked)))
        }
    }

    private func endsWorkers(_ task: CheckTask) -> Bool {
        switch task.work {
        case .record(let record, _):
            return script.records[SimulatedApple.number(of: record)].endsWorkers && !options.endsWhileReading
        case .reply(let submission, _), .signature(let submission, _):
            guard options.endsWhileReading, let number = record(at: submission.origin),
                script.records[number].endsWorkers, !isRowMended
            else { return false }
            let digest = ClaimDigest(of: submission)
            if ledger.tables.waits(digest) { endingRow = endingRow ?? digest }
            return true
        case .submission(let submission)
        where options.endsWorkers && !options.endsWhileReading && !isRowMended:
            let digest = ClaimDigest(of: submission)
            guard ledger.tables.waits(digest) else { return false }
            endingRow = endingRow ?? digest
            return endingRow == digest
        default: return false
        }
    }

    // MARK: Apple and fulfilment services

    func ask(_ task: AttemptTask, _ life: Life) {
        guard life.isAlive else { return }
        let (result, outcome) = apple.answer(task, at: milliseconds, &random)
        if case .limited = outcome { life.limiting[task.token] = task.question.endpoint }
        let attempted = Attempted(token: task.token, result: result, outcome: outcome, took: .milliseconds(100))
        receiveLater(.attempted([attempted]), life)
    }

    func fulfil(_ task: CallTask, _ life: Life) {
        // The service hears of it even if the worker has died since.
        let drawn = isHealthy ? 1000 : random(0...999)
        let isAccepted = drawn >= 200
        if isAccepted { witness.called(task.grant) }
        guard life.isAlive else { return }
        let isHeard = isHealthy || !chance(options.lostReplies)
        let (result, outcome): (Called.Result, CallOutcome) =
            switch drawn {
            case _ where !isHeard: (.notAccepted(ServiceAnswer(isRefusal: false, "no answer")), .failed)
            case 0..<60: (.notAccepted(ServiceAnswer(isRefusal: true, "HTTP 422")), .replied)
            case 60..<80: (.notAccepted(ServiceAnswer(isRefusal: false, "HTTP 429")), .limited(wait: .seconds(2)))
            case 80..<200: (.notAccepted(ServiceAnswer(isRefusal: false, "HTTP 503")), .overloaded)
            default: (.accepted, .replied)
            }
        receiveLater(
            .called([
                Called(
                    token: task.token, result: result, outcome: outcome, took: .milliseconds(50),
                    retryAfter: outcome == .limited(wait: .seconds(2)) ? .seconds(2) : nil)
            ]), life)
    }

    private func receiveLater(_ input: Input, _ life: Life) {
        after(random(0...200), .input(life, input))
    }

    // MARK: The broker

    func publish(_ task: PublishTask, _ life: Life) {
        // Records that librdkafka had not sent are lost with the process.
        guard life.isAlive || chance(500) else { return }
        let topic = task.event.topic
        let isAway = topicOutages.contains { $0.topic == topic && $0.begin <= milliseconds && milliseconds < $0.end }
        let isRefused =
            topic == .quarantined && options.quarantineRefusesLarge && witness.isLarge(task.event)
            && task.event.value != nil
        if isAway || isRefused {
            // A refusal is reported at once, silence after ten seconds.
            guard life.isAlive else { return }
            let wait: Int64 = isRefused || chance(500) ? 1000 : 10_000_000
            let report = PublishReport(token: task.token, result: isRefused ? .tooLarge : .failed)
            return after(wait, .input(life, .published([report])))
        }
        witness.published(task.event, at: milliseconds, self)
        let isLost = !isHealthy && chance(options.lostAcknowledgements)
        let report = PublishReport(token: task.token, result: isLost ? .failed : .acknowledged)
        after(isLost ? 10_000_000 : random(100...3000), .input(life, .published([report])))
    }

    // MARK: The ledger

    private var isLedgerAway: Bool {
        ledgerOutages.contains { $0.begin <= milliseconds && milliseconds < $0.end }
    }

    func write(_ batch: WriteBatch, of life: Life, epoch called: Int) {
        var result = Result<[DecisionResult], LedgerError>.failure(.unavailable(detail: "no reply"))
        if called != epoch {
            result = .failure(.disconnected(detail: "the connection is gone"))
        } else if isLedgerAway {
            // Nothing is done; the reply comes after a second.
            life.writerAt = max(life.writerAt, now + .seconds(1))
            return events.insert(.input(life, .written(batch.id, result)), due: life.writerAt)
        } else if isHealthy || !chance(options.lostReplies / 2) {
            // A statement at the database is carried out even if its worker has died since.
            let open = batch.decisions.filter {
                $0.isGrant && !witness.isGranted($0.claimant.submissionKey, to: $0.claimant.userID, self)
            }
            let done = execute(batch.decisions)
            witness.committed(open, at: milliseconds, self)
            if isHealthy || !chance(options.lostReplies / 2) { result = done }
        }
        after(random(50...500), .input(life, .written(batch.id, result)))
    }

    private func execute(_ decisions: [Decision]) -> Result<[DecisionResult], LedgerError> {
        ledger.now = Timestamp(milliseconds: Self.wallStart + milliseconds)
        guard !isHealthy, options.undecided > 0 else {
            return attempt { () throws(LedgerError) in try connection.write(decisions) }
        }
        // Another writer's transaction holds a key of some of them, and rolls back in the end.
        for case .grant(let purchases, _) in decisions.map(\.content) {
            for purchase in purchases where chance(options.undecided) {
                ledger.heldElsewhere.insert(purchase.reference)
            }
        }
        defer { ledger.heldElsewhere = [] }
        // Of the others, some are not decided for a reason of the database's.
        let open = decisions.map { $0.isGrant || !chance(options.undecided) }
        let before = decisions.map { ledger.tables.rows(of: $0.claimant.submissionKey).count }
        let done = attempt { () throws(LedgerError) in
            try connection.write(zip(decisions, open).filter(\.1).map(\.0))
        }
        return done.map { results in
            var rest = results[...]
            let results = open.map { $0 ? rest.popFirst() ?? .undecided : .undecided }
            for (place, decision) in decisions.enumerated() where results[place] == .undecided {
                witness.undecided(decision, rows: before[place], self)
            }
            return results
        }
    }

    private func attempt<Value>(_ body: () throws(LedgerError) -> Value) -> Result<Value, LedgerError> {
        do throws(LedgerError) {
            return .success(try body())
        } catch {
            return .failure(error)
        }
    }

    func call(_ request: LedgerRequest, of life: Life, epoch called: Int) {
        var result = Result<LedgerResult, LedgerError>.failure(.unavailable(detail: "no reply"))
        if called != epoch {
            result = .failure(.disconnected(detail: "the connection is gone"))
        } else if isLedgerAway {
            life.sideAt = max(life.sideAt, now + .seconds(1))
            return events.insert(.input(life, .ledger(request.id, result)), due: life.sideAt)
        } else if isHealthy || !chance(options.lostReplies / 2) {
            let done = execute(request.call, of: life)
            if isHealthy || !chance(options.lostReplies / 2) { result = done }
        }
        after(random(50...500), .input(life, .ledger(request.id, result)))
    }

    private func execute(_ call: LedgerRequest.Call, of life: Life) -> Result<LedgerResult, LedgerError> {
        ledger.now = Timestamp(milliseconds: Self.wallStart + milliseconds)
        switch call {
        case .checkpoint(let checkpoints): witness.checkpoints(checkpoints, self)
        case .takeOver(let takeOvers): for takeOver in takeOvers { witness.takesOver(takeOver.ownership) }
        default: break
        }
        let done = attempt { () throws(LedgerError) in try call.perform(on: connection) }
        // A mark that comes after its worker has ended, or has lost the partition, is left behind, too.
        if case .mark(let marks) = call {
            for number in marks.map(\.ownership.partition.partition)
            where !life.isAlive || kafka.partitions[Int(number)].owner !== life {
                leaveMark(of: life, on: number)
            }
        }
        return done
    }
}

extension Decision {
    fileprivate var isGrant: Bool { if case .grant = content { true } else { false } }
}
