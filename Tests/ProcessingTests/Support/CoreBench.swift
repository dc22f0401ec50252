import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

/// A core with drivers that do nothing by themselves: a test hands inputs in, and looks at the actions.
final class CoreBench {
    private(set) var core: WorkerCore
    private(set) var now = Instant.zero
    private(set) var wall = Timestamp(milliseconds: 1_700_000_000_000)
    private var actions = Actions()

    // Actions that were not taken yet.
    private(set) var fetches: [TopicPartition] = []
    private(set) var assigned: [Assignment] = []
    private(set) var unassigned: [TopicPartition] = []
    private(set) var commits: [CommittedOffset] = []
    private(set) var demand: Demand?
    private(set) var checks: [CheckTask] = []
    private(set) var attempts: [AttemptTask] = []
    private(set) var calls: [CallTask] = []
    private(set) var writes: [WriteBatch] = []
    private(set) var requests: [LedgerRequest] = []
    /// All that were made since the start.
    private(set) var requestCount = 0
    private(set) var publishes: [PublishTask] = []
    private(set) var alerts: [Alert] = []
    private(set) var wakeAt: Instant?
    private(set) var stop: StopReason?
    /// Samples are answered with it as they are asked for.
    var measure = LedgerMeasure(retries: [], waiting: [], outboxRows: 0, outboxAge: 0)
    /// The same, taken now.
    var sample: LedgerMeasure {
        var sample = measure
        sample.takenAt = wall
        return sample
    }
    /// Whether they are answered at once.
    var isMeasured = true
    /// Whether the ledger answers at once that nothing is due.
    var isNothingDue = true
    /// Whether the ledger writes checkpoints at once.
    var isCheckpointed = false
    /// Whether the ledger forgets the worker's sign at once.
    var isSignedOff = true
    /// Whether Apple's signature on a receipt holds, which checkers say at once; nil where a test says it.
    var isSigned: Bool? = false

    init(settings: CoreSettings = CoreSettings(), seed: UInt64 = 1) {
        core = WorkerCore(settings: settings, seed: seed)
        send(.apps(Fixture.apps))
    }

    /// One turn with these inputs.
    func send(_ inputs: Input...) {
        for input in inputs { core.handle(input, at: now, wall: wall, into: &actions) }
        core.endTurn(at: now, wall: wall, into: &actions)
        collect()
    }

    private func collect() {
        fetches += actions.fetchCommitted
        assigned += actions.assign
        unassigned += actions.unassign
        commits += actions.commit
        demand = actions.demand ?? demand
        attempts += actions.attempts
        calls += actions.calls
        writes += actions.writes
        publishes += actions.publishes
        alerts += actions.alerts
        wakeAt = actions.wakeAt
        stop = actions.stop ?? stop
        var quiet: [Input] = []
        var looked: [Checked] = []
        for check in actions.checks {
            if case .signature = check.work, let isSigned {
                looked.append(Checked(token: check.token, result: .signature(holds: isSigned, nil)))
            } else {
                checks.append(check)
            }
        }
        if !looked.isEmpty { quiet.append(.checked(looked)) }
        requestCount += actions.requests.count
        for request in actions.requests {
            switch request.call {
            case .measure where isMeasured: quiet.append(.ledger(request.id, .success(.measured(sample))))
            case .signOff where isSignedOff: quiet.append(.ledger(request.id, .success(.done)))
            case .takeDue where isNothingDue: quiet.append(.ledger(request.id, .success(.due([]))))
            case .takeOutbox where isNothingDue: quiet.append(.ledger(request.id, .success(.outbox([]))))
            case .checkpoint(let checkpoints) where isCheckpointed:
                quiet.append(.ledger(request.id, .success(.checkpointed(checkpoints.map { _ in true }))))
            default: requests.append(request)
            }
        }
        actions.removeAll()
        for input in quiet { send(input) }
    }

    /// Lets time pass, with a turn at each moment that the core asks for.
    func wait(_ duration: Duration) {
        let end = now + duration
        var turns = 0
        while let next = wakeAt, next <= end {
            turns += 1
            guard turns < 100_000 else {
                Issue.record("The core asks for turns without end.")
                return
            }
            advance(to: max(next, now))
            send()
        }
        advance(to: end)
        send()
    }

    private func advance(to moment: Instant) {
        wall = wall.advanced(by: moment - now)
        now = moment
    }

    // MARK: Taking what is to be done

    func takeChecks() -> [CheckTask] { take(&checks) }
    func takeAttempts() -> [AttemptTask] { take(&attempts) }
    func takeCalls() -> [CallTask] { take(&calls) }
    func takeWrites() -> [WriteBatch] { take(&writes) }
    func takePublishes() -> [PublishTask] { take(&publishes) }
    func takeAlerts() -> [Alert] { take(&alerts) }
    func takeCommits() -> [CommittedOffset] { take(&commits) }
    func takeUnassigned() -> [TopicPartition] { take(&unassigned) }

    private func take<Element>(_ list: inout [Element]) -> [Element] {
        defer { list = [] }
        return list
    }

    /// Takes the first request for which a closure has something.
    func takeRequest<Result>(_ body: (LedgerRequest.Call) -> Result?) -> (id: RequestID, content: Result)? {
        for (index, request) in requests.enumerated() {
            guard let content = body(request.call) else { continue }
            requests.remove(at: index)
            return (request.id, content)
        }
        return nil
    }

    // MARK: Steps that many tests take

    /// Assigns partition 0 and takes it over.
    @discardableResult
    func own(
        next: Int64? = 0, committed: Int64? = 0, highestOrigin: Int64? = nil, starts: Int = 1, marked: Int64? = nil
    ) throws -> Assignment {
        send(.assigned([Fixture.partition]))
        return try takeOver(
            next: next, committed: committed, highestOrigin: highestOrigin, starts: starts, marked: marked)
    }

    /// Answers a take-over of partition 0 that the core is about to make.
    @discardableResult
    func takeOver(
        next: Int64? = 0, committed: Int64? = 0, highestOrigin: Int64? = nil, starts: Int = 1, marked: Int64? = nil
    ) throws -> Assignment {
        let start = PartitionStart(
            next: next, highestOrigin: highestOrigin, starts: starts,
            suspect: marked.map { CheckSuspect(offset: $0, ends: PoisonWatch.endsOfPoison) })
        try answerTakeOver(committed: committed, start)
        let assignment = try #require(assigned.last)
        assigned = []
        return assignment
    }

    func answerTakeOver(committed: Int64?, _ start: PartitionStart) throws {
        #expect(fetches == [Fixture.partition])
        fetches = []
        send(.committed([CommittedOffset(partition: Fixture.partition, offset: committed)]))
        let (id, takeOvers) = try #require(
            takeRequest { if case .takeOver(let list) = $0 { list } else { nil } })
        #expect(takeOvers.map(\.committed) == [committed])
        send(.ledger(id, .success(.takenOver([.taken(start)]))))
    }

    /// Reads records of partition 0 and gives the checks that follow.
    @discardableResult
    func read(_ offsets: Int64..., in assignment: Assignment) -> [CheckTask] {
        send(.records(RecordBatch(assignment: assignment.id, records: offsets.map { Fixture.record($0) })))
        return takeChecks()
    }

    /// Ends a check with a verdict.
    func conclude(
        _ task: CheckTask, _ verdict: Verdict, id: String? = nil, user: UserID = "u1",
        options: DecisionOptions = DecisionOptions()
    ) {
        end(task, .concluded(verdict), id: id, user: user, options: options)
    }

    /// Ends a check with a question.
    func ask(
        _ task: CheckTask, _ question: Question = Fixture.question(), lookUp: GrantLookup? = nil,
        options: DecisionOptions = DecisionOptions()
    ) {
        end(task, .ask(question, lookUp: lookUp, isSigned: nil), options: options)
    }

    private func end(
        _ task: CheckTask, _ check: LocalCheck, id: String? = nil, user: UserID = "u1", options: DecisionOptions
    ) {
        let submission =
            switch task.work {
            case .record(let record, _), .quarantine(let record, _):
                Fixture.submission(
                    record.origin.offset, id: id, user: user, partition: record.origin.partition)
            case .submission(let submission), .signature(let submission, _), .reply(let submission, _): submission
            }
        send(.checked([Checked(token: task.token, result: .submission(submission, options, check))]))
    }

    /// Answers the batch under way, once the pace of batches has let it go.
    @discardableResult
    func written(_ results: DecisionResult...) throws -> WriteBatch {
        wait(WriteBatcher.mostPause)
        let batch = try #require(takeWrites().first)
        try #require(batch.decisions.count == results.count)
        send(.written(batch.id, .success(results)))
        return batch
    }

    func attempted(
        _ task: AttemptTask, _ result: AttemptResult, _ outcome: CallOutcome = .replied,
        took: Duration = .milliseconds(200), fault: String? = nil
    ) {
        send(.attempted([Attempted(token: task.token, result: result, outcome: outcome, took: took, fault: fault)]))
    }

    func published(_ task: PublishTask, _ result: PublishReport.Result = .acknowledged, cause: String? = nil) {
        send(.published([PublishReport(token: task.token, result: result, cause: cause)]))
    }

    /// Answers the second's checkpoint, and gives it.
    @discardableResult
    func checkpointed(_ isOwned: Bool = true) throws -> [OffsetCheckpoint] {
        wait(.seconds(1))
        let (id, checkpoints) = try #require(
            takeRequest { if case .checkpoint(let checkpoints) = $0 { checkpoints } else { nil } })
        send(.ledger(id, .success(.checkpointed(checkpoints.map { _ in isOwned }))))
        return checkpoints
    }
}
