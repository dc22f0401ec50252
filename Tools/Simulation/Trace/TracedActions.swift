import Contract
import Ledger
import Processing

/// The lines of a turn's actions, in the order in which drivers take them.
struct TracedActions: ActionTaker {
    let life: Life
    let memory: TraceMemory
    let world: World
    private(set) var lines: [TraceLine] = []

    init(_ life: Life, _ memory: TraceMemory, _ world: World) {
        (self.life, self.memory, self.world) = (life, memory, world)
    }

    private mutating func add(_ verb: String, _ about: TraceLine.About, _ detail: String = "") {
        lines.append(TraceLine(.outOf, verb, about, detail))
    }

    mutating func unassign(_ partitions: [TopicPartition]) {
        for partition in partitions { add("unassign", .partition(partition.partition)) }
    }

    mutating func fetchCommitted(_ partitions: [TopicPartition]) {
        for partition in partitions { add("fetch", .partition(partition.partition), "the group's offset") }
    }

    mutating func assign(_ assignments: [Assignment]) {
        for assignment in assignments {
            memory.partitions[assignment.id] = assignment.partition.partition
            let start = assignment.start.map { "from offset \($0)" } ?? "from the oldest record"
            add("assign", .partition(assignment.partition.partition), start)
        }
    }

    mutating func commit(_ offsets: [CommittedOffset]) {
        for committed in offsets {
            add(
                "commit", .offset(committed.partition.partition, next: committed.offset, isTold: true),
                "offset \(committed.offset.text)")
        }
    }

    mutating func demand(_ demand: Demand) {
        add("demand", .nobody, "\(demand.records) records and \(demand.bytes) bytes in all")
    }

    mutating func check(_ tasks: [CheckTask]) {
        for task in tasks {
            let subject = memory.know(task.token, as: task.work.traced(world))
            add("check", .submission(subject), task.work.text)
        }
    }

    mutating func ask(_ tasks: [AttemptTask]) {
        for task in tasks {
            let submission = task.submission
            let subject = memory.know(
                task.token, as: TraceSubject(id: submission.id.rawValue, origin: submission.origin))
            add("ask", .submission(subject), "\(task.question.endpoint), after \(task.attempts) attempts")
        }
    }

    mutating func call(_ tasks: [CallTask]) {
        for task in tasks {
            let subject = TraceSubject(id: task.grant.claimant.submissionID.rawValue)
            memory.calls[task.token] = subject
            add("call", .submission(subject), "the service of \(task.grant.claimant.bundleID)")
        }
    }

    mutating func write(_ batches: [WriteBatch]) {
        for batch in batches {
            memory.batches[batch.id] = batch.decisions
            for decision in batch.decisions { add("write", .submission(decision.traced), decision.content.text) }
        }
    }

    mutating func request(_ requests: [LedgerRequest]) {
        for request in requests {
            memory.requests[request.id] = request.call
            for item in memory.items(of: request.call, world) { add(request.call.name, item.about, item.detail) }
        }
    }

    mutating func publish(_ tasks: [PublishTask]) {
        for task in tasks {
            let own = life.core.submission(of: task.token)
            let subject = own.map { memory.subject($0) } ?? task.event.traced(world)
            memory.events[task.token] = (subject, task.event)
            add("publish", .submission(subject), "\(task.event.topic.rawValue) \(task.event.id)")
        }
    }

    mutating func alert(_ alerts: [Alert]) {
        for alert in alerts {
            let (about, text) = alert.told
            add("alert", about, text)
        }
    }
}

extension CheckTask.Work {
    func traced(_ world: World) -> TraceSubject {
        switch self {
        case .record(let record, _), .quarantine(let record, _):
            let id = world.script.records[SimulatedApple.number(of: record)].submissionID
            return TraceSubject(id: id, origin: record.origin)
        case .submission(let submission), .signature(let submission, _), .reply(let submission, _):
            return TraceSubject(id: submission.id.rawValue, origin: submission.origin)
        }
    }
}

extension TraceMemory {
    /// The parts of a call to the ledger, each with whom it concerns.
    func items(of call: LedgerRequest.Call, _ world: World) -> [(about: TraceLine.About, detail: String)] {
        switch call {
        case .takeOver(let requests):
            requests.map { (.partition($0.ownership.partition.partition), "the group is at \($0.committed.text)") }
        case .knownOutcomes(let origins):
            origins.map { (.record(world.record(at: $0), $0, world.script), "is there an outcome of \($0.place)?") }
        case .checkpoint(let checkpoints):
            checkpoints.map { checkpoint in
                let number = checkpoint.ownership.partition.partition
                return (.offset(number, next: checkpoint.next, isTold: false), "offset \(checkpoint.next.text)")
            }
        case .mark(let marks):
            marks.map { mark in
                let number = mark.ownership.partition.partition
                return (
                    .partition(number), "the check of \(mark.begins.text) begins, that of \(mark.ended.text) has ended"
                )
            }
        case .lookUp(let questions):
            questions.map { (.submission(lookUps[$0] ?? TraceSubject()), "was \($0.transactionID) granted?") }
        case .takeDue(let requests, _):
            requests.map { request in
                let rows = request.endpoint.map { "rows that wait for \($0)" } ?? "held rows"
                return (.nobody, "\(request.limit) \(rows)\(request.beforeDue ? ", due or not" : "")")
            }
        case .renew(let renewals):
            renewals.map { (.submission(leases[$0.lease.key] ?? TraceSubject()), "its lease") }
        case .giveBack(let retries, let outbox):
            retries.map { (.submission(leases[$0.key] ?? TraceSubject()), "its lease") }
                + outbox.map { (about($0.key), "the lease of \($0.key.text)") }
        case .owe(let entries): entries.map { (about($0.key), $0.key.text) }
        case .takeOutbox(let requests): requests.map { (.nobody, "\($0.limit) rows for \($0.target.text)") }
        case .report(let reports): reports.map { (about($0.lease.key), $0.text) }
        case .measure, .signOff: [(.nobody, "")]
        }
    }

    private func about(_ key: OutboxKey) -> TraceLine.About { .submission(keys[key] ?? TraceSubject()) }
}
