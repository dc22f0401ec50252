import Contract
import Ledger
import Processing

/// Inputs, each with its lines. The switches are closed, so that a new case does not compile without its line.
extension TraceMemory {
    func lines(_ input: Input, _ world: World) -> [TraceLine] {
        switch input {
        case .assigned(let partitions): partitions.map { line("assigned", .partition($0.partition)) }
        case .revoked(let partitions): partitions.map { line("revoked", .partition($0.partition)) }
        case .wentBack(let assignment):
            [line("wentBack", about(assignment), "its offsets are behind where it was read")]
        case .unreadable(let assignment, let offset):
            [line("unreadable", about(assignment), "its records come damaged from offset \(offset) on")]
        case .committed(nil): [line("committed", .worker, "the broker does not answer")]
        case .committed(let offsets?):
            offsets.map { line("committed", .partition($0.partition.partition), "the group is at \($0.offset.text)") }
        case .records(let batch):
            batch.records.map { line("record", about($0.origin, world), "offset \($0.origin.place)") }
        case .checked(let results):
            results.map { checked in
                let subject = subject(checked.token)
                if case .submission(_, _, .ask(_, let lookUp?, _)) = checked.result { lookUps[lookUp] = subject }
                return line("checked", .submission(subject), checked.result.text)
            }
        case .attempted(let results):
            results.map { attempted in
                let text = "\(attempted.result.text); the endpoint \(attempted.outcome.text)"
                return line("attempted", .submission(subject(attempted.token)), text)
            }
        case .called(let results):
            results.map { called in
                line(
                    "called", .submission(calls.removeValue(forKey: called.token) ?? TraceSubject()),
                    called.result == .accepted ? "accepted" : "not accepted")
            }
        case .written(let id, let result): written(id, result)
        case .ledger(let id, let result): ledger(id, result, world)
        case .published(let reports):
            reports.map { report in
                let known = events[report.token]
                let topic = known?.event.topic.rawValue ?? "?"
                guard report.result == .acknowledged else {
                    return line("published", .submission(known?.subject ?? TraceSubject()), "\(topic): not taken")
                }
                events[report.token] = nil
                return line("published", .submission(known?.subject ?? TraceSubject()), "\(topic): acknowledged")
            }
        case .apps(let apps): [line("apps", .nobody, "version \(apps.version)")]
        case .stop: [line("stop", .worker, "it is told to stop")]
        }
    }

    private func line(_ verb: String, _ about: TraceLine.About, _ detail: String = "") -> TraceLine {
        TraceLine(.into, verb, about, detail)
    }

    private func about(_ assignment: AssignmentID) -> TraceLine.About {
        partitions[assignment].map { .partition($0) } ?? .nobody
    }

    private func about(_ origin: Origin, _ world: World) -> TraceLine.About {
        .record(world.record(at: origin), origin, world.script)
    }

    private func written(_ id: BatchID, _ result: Result<[DecisionResult], LedgerError>) -> [TraceLine] {
        let decisions = batches[id] ?? []
        switch result {
        case .success(let results):
            batches[id] = nil
            return zip(decisions, results).map { decision, result in
                if case .written(_, let events, _) = result { know(events, of: decision.traced) }
                return line("written", .submission(decision.traced), result.text)
            }
        case .failure(let error): return decisions.map { line("written", .submission($0.traced), error.text) }
        }
    }

    private func ledger(_ id: RequestID, _ result: Result<LedgerResult, LedgerError>, _ world: World) -> [TraceLine] {
        guard let call = requests[id] else { return [] }
        switch result {
        case .failure(let error): return items(of: call, world).map { line(call.name, $0.about, error.text) }
        case .success(let result):
            requests[id] = nil
            return lines(result, to: call, world)
        }
    }

    private func know(_ events: [RenderedEvent], of subject: TraceSubject) {
        for event in events { keys[event.key] = subject }
    }

    private func lines(_ result: LedgerResult, to call: LedgerRequest.Call, _ world: World) -> [TraceLine] {
        let items = items(of: call, world)
        func each(_ texts: [String]) -> [TraceLine] { zip(items, texts).map { line(call.done, $0.about, $1) } }
        switch result {
        case .takenOver(let results): return each(results.map(\.text))
        case .knownOutcomes(let outcomes):
            for outcome in outcomes {
                know(outcome.publish, of: TraceSubject(id: outcome.submissionID.rawValue, origin: outcome.origin))
            }
            return items.map { item in
                guard case .submission(let subject) = item.about else { return line(call.done, item.about) }
                let known = outcomes.filter { $0.origin == subject.origin }.map { "\($0.kind)" }
                return line(call.done, item.about, known.isEmpty ? "no outcome" : known.joined(separator: ", "))
            }
        case .checkpointed(let isOwner):
            return each(zip(items, isOwner).map { $1 ? $0.detail : "it is another worker's" })
        case .marked(let isOwner): return each(isOwner.map { $0 ? "" : "it is another worker's" })
        case .lookedUp(let grants): return each(grants.map { $0.map { "granted as \($0.text)" } ?? "not granted" })
        case .due(let rows):
            return rows.map { row in
                let subject = TraceSubject(id: row.submission.id.rawValue, origin: row.submission.origin)
                leases[row.lease.key] = subject
                let text = "a row of retries after \(row.attempts) attempts: \(row.cause.text)"
                return line("due", .submission(subject), text)
            }
        case .renewed(let isOurs), .owed(let isOurs): return each(isOurs.map { $0 ? "" : "it is another worker's" })
        case .outbox(let rows):
            return rows.map { row in
                keys[row.lease.key] = row.traced(world)
                let text = "a row of the outbox: \(row.lease.step) \(row.lease.key.text)"
                return line("due", .submission(row.traced(world)), text)
            }
        case .measured(let measure):
            let rows = measure.retries.reduce(0) { $0 + $1.rows }
            return [
                line(
                    call.done, .nobody, "retries \(rows), outbox \(measure.outboxRows), workers \(measure.workers)")
            ]
        case .done: return items.map { line(call.done, $0.about, $0.detail) }
        }
    }
}

extension Decision {
    var traced: TraceSubject { TraceSubject(id: claimant.submissionID.rawValue, origin: origin) }
}

extension OutboxItem {
    func traced(_ world: World) -> TraceSubject {
        switch work {
        case .publish(let event): event.traced(world)
        case .call(let grant): TraceSubject(id: grant.claimant.submissionID.rawValue)
        }
    }
}

extension Event {
    /// The submission whose claim an event answers, by its trace context.
    func traced(_ world: World) -> TraceSubject {
        let context = headers.first { $0.name == "traceparent" }?.value.map { String(decoding: $0, as: UTF8.self) }
        let number = context.flatMap { Int($0.dropFirst(5)) }
        guard let number, world.script.claims.indices.contains(number) else { return TraceSubject() }
        return TraceSubject(id: world.script.claims[number].claimant.submissionID.rawValue)
    }
}
