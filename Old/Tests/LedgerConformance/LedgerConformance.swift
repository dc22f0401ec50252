public import Ledger
import Purchases

/// A rule that every ledger keeps, as a check against a new, empty one.
public struct ConformanceRule: Sendable, CustomStringConvertible {
    public typealias AnyLedger = any LedgerStore & LedgerReader & WaitingRoom & DeliveryRoom & LedgerOperations

    /// The rule in words.
    public let description: String
    /// Throws ``Violation`` if the ledger breaks the rule, or what the ledger throws.
    public let check: @Sendable (AnyLedger) async throws -> Void

    init(_ description: String, _ check: @escaping @Sendable (AnyLedger) async throws -> Void) {
        self.description = description
        self.check = check
    }
}

/// What a ledger did that a rule forbids.
public struct Violation: Error, CustomStringConvertible {
    public let description: String
}

/// All rules.
public enum LedgerConformance {
    public static let rules =
        grantRules + repeatRules + holdRules + outboxRules + waitingRules + deliveryRules + readerRules + snapshotRules

    static func expect<Value: Equatable>(
        _ found: Value, _ wanted: Value, _ what: String, line: Int = #line
    ) throws(Violation) {
        guard found != wanted else { return }
        throw Violation(description: "\(what): found \(found), wanted \(wanted) (line \(line))")
    }
}

/// A ledger with the questions that rules ask most.
struct Subject {
    let ledger: ConformanceRule.AnyLedger

    init(_ ledger: ConformanceRule.AnyLedger) {
        self.ledger = ledger
    }

    @discardableResult
    func settle(_ settlements: Settlement..., now: Timestamp = Samples.noon) async throws -> [SettledOutcome] {
        try await ledger.settle(settlements, quarantines: [], now: now).outcomes
    }

    /// How often each event is to be published, as long as none was.
    func copies() async throws -> [EventID: Int64] {
        Dictionary(try await ledger.outbox(after: 0, limit: 1000).map { ($0.event.id, 1) }, uniquingKeysWith: +)
    }

    /// Takes the relay and notes that all but some entries were published.
    @discardableResult
    func publish(through: Int64, withhold: [Int64] = [], release: [Int64] = []) async throws -> Bool {
        _ = try await ledger.takeRelay("first", for: .seconds(60), now: Samples.noon)
        return try await ledger.published(
            RelayNote(through: through, withhold: withhold, release: release), by: "first", for: .seconds(60),
            now: Samples.noon)
    }

    func row(_ id: SubmissionID) async throws -> SubmissionRow? {
        try await ledger.submissions(SubmissionFilter(submissionID: id), before: nil, limit: 10).first
    }

    func event(_ id: EventID) async throws -> Event? {
        try await ledger.events([id]).first?.event
    }
}
