public import Contract
public import Ledger

/// A connection as every ledger offers it to workers and to people.
public typealias AnyLedger = any LedgerConnection & LedgerOperator

/// A new, empty ledger that a rule checks.
public struct ConformanceSubject {
    public let ledger: AnyLedger
    public let other: AnyLedger
    public let setClock: (Timestamp) -> Void
    /// Carries a statement of SQL out beside the ledger, and returns the first value that it finds.
    let run: (String) throws -> String?

    public init(
        ledger: AnyLedger, other: AnyLedger, setClock: @escaping (Timestamp) -> Void,
        run: @escaping (String) throws -> String? = { _ in nil }
    ) {
        self.ledger = ledger
        self.other = other
        self.setClock = setClock
        self.run = run
    }

    func measure() throws -> LedgerMeasure { try ledger.measure(as: Samples.worker) }
}

/// A rule that every ledger keeps, as a check against a new, empty one whose clock stands at ``Samples/noon``.
public struct ConformanceRule: Sendable, CustomStringConvertible {
    public let description: String
    /// Throws ``Violation`` if the ledger breaks the rule, or what the ledger throws.
    public let check: @Sendable (ConformanceSubject) throws -> Void

    init(_ description: String, _ check: @escaping @Sendable (ConformanceSubject) throws -> Void) {
        self.description = description
        self.check = check
    }
}

public struct Violation: Error, CustomStringConvertible {
    public let description: String
}

public enum LedgerConformance {
    public static let rules =
        grantRules + repeatRules + severalRules + unlistedRules + heldRules + failureRules + callRules + retryRules
        + leaseRules
        + outboxRules + pendingRules + memberRules + groupRules + partitionRules + knownRules + readerRules
        + searchRules + operatorRules + upkeepRules + auditRules
}

func expect<Value: Equatable>(
    _ found: Value, _ wanted: Value, _ what: String, line: Int = #line
) throws(Violation) {
    guard found != wanted else { return }
    throw Violation(description: "\(what): found \(found), wanted \(wanted) (line \(line))")
}

func expect(_ holds: Bool, _ what: String, line: Int = #line) throws(Violation) {
    guard !holds else { return }
    throw Violation(description: "\(what) (line \(line))")
}

extension LedgerOperator {
    /// Gives a submission up, whatever its rows wait for, also while a worker is at it.
    func abandon(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> [Outcome] {
        try abandon(key, note) { _ in true } ?? []
    }
}

extension ConformanceSubject {
    /// Takes the sample partition over, under a generation.
    @discardableResult
    public func own(_ generation: Int64 = 1, _ partition: TopicPartition = Samples.partition) throws -> TakeOverResult?
    {
        let ownership = PartitionOwnership(partition: partition, generation: Generation(rawValue: generation))
        return try ledger.takeOver([TakeOver(ownership: ownership, owner: "worker", committed: nil)]).first
    }

    /// Says that the sample partition is complete up to an offset.
    public func pass(to next: Int64) throws {
        let checkpoint = OffsetCheckpoint(ownership: Samples.ownership(), next: next)
        try expect(try ledger.checkpoint([checkpoint]), [true], "a checkpoint")
    }

    /// Writes decisions as one batch.
    @discardableResult
    func write(_ batch: Decision...) throws -> [DecisionResult] { try ledger.write(batch) }

    /// The one row of an endpoint that is due now, taken.
    func takeOne(_ endpoint: Endpoint? = Samples.endpoint) throws -> DueRetry {
        let due = try ledger.takeDue([DueRequest(endpoint: endpoint, limit: 10)], bytes: .max)
        guard due.count == 1 else { throw Violation(description: "\(due.count) rows are due, not one") }
        return due[0]
    }

    /// The events that the outbox owes to the topics, and those rows done.
    func drain() throws -> [Event] {
        var events: [Event] = []
        for item in try ledger.takeOutbox(
            Topic.outputs.map { OutboxRequest(target: .topic($0), limit: 100) })
        {
            guard case .publish(let event) = item.work else { throw Violation(description: "a topic has a call") }
            events.append(event)
            try ledger.report([.published(item.lease)])
        }
        return events
    }

    func grantRows() throws -> [Grant] { try ledger.grants(GrantQuery(limit: 1_000)).map(\.grant) }
}

extension DecisionResult {
    var events: [Event] {
        guard case .written(_, let publish, _) = self else { return [] }
        return publish.map(\.event)
    }

    var outcome: Outcome? {
        guard case .written(let outcome, _, _) = self else { return nil }
        return outcome
    }

    /// The number of purchases that are said to be passed over for the first time.
    var passedOver: [PassedOver.Reason: Int]? {
        guard case .written(_, _, let passedOver) = self else { return nil }
        return passedOver
    }
}

extension Event {
    /// The submission that asked for this copy; nil for an event that is no copy.
    var repeatOf: String? {
        headers.first { $0.name == GrantedEvent.repeatHeader }.map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }

    /// The same event without the mark of a copy.
    var unmarked: Event {
        Event(
            id: id, topic: topic, key: key, headers: headers.filter { $0.name != GrantedEvent.repeatHeader },
            value: value)
    }
}
