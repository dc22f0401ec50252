import Contract
import Ledger
import Synchronization

@testable import Commands

/// A ledger that has two apps' submissions in every state, and notes the calls.
final class FixedLedger: LedgerOperator, Sendable {
    static let id = "0b7d9a52-0000-4000-8000-000000000001"
    static let time = Timestamp(milliseconds: 1_700_000_000_000)

    private let asked = Mutex<[String]>([])
    private let owed = Mutex<[OutboxRow]>([])
    private let owedLater = Mutex(0)
    private let held = Mutex<Int?>(nil)
    private let listed = Mutex<[SubmissionRow]?>(nil)
    private let decided = Mutex<ClosedRange<Int64>>(1...9)
    private let unknownApps = Mutex<Set<BundleID>>([])
    private let checkpoint = Mutex<Int64>(173)
    private let owner: ConsumerGroup?
    private let erased = Mutex<[ErasureResult]>([])
    private let refusal = Mutex<(error: LedgerError, during: @Sendable () -> Void)?>(nil)
    private let changeRefusal = Mutex<(taken: Int, error: LedgerError)?>(nil)
    private let repairRefusal = Mutex<(taken: Int, error: LedgerError)?>(nil)
    private let importRefusal = Mutex<(taken: Int, error: LedgerError)?>(nil)
    private let lead = Mutex<Int64>(0)
    private let actionQuestions = Mutex(0)
    private let audited = Mutex<[AuditedTable: [AuditedRow]]>([:])

    /// - Parameter owner: The group whose ledger it is.
    init(owner: ConsumerGroup? = nil) { self.owner = owner }

    /// From now on it answers no question about one submission.
    /// - Parameter during: Done before each refusal, such as to let time pass.
    func refuse(_ error: LedgerError?, during: @escaping @Sendable () -> Void = {}) {
        refusal.withLock { $0 = error.map { ($0, during) } }
    }

    private func demandAnswer() throws(LedgerError) {
        guard let refusal = refusal.withLock({ $0 }) else { return }
        refusal.during()
        throw refusal.error
    }

    /// After so many it answers no order to retry, give up or pass.
    func refuseChanges(after taken: Int = 0, _ error: LedgerError) { changeRefusal.withLock { $0 = (taken, error) } }

    private func demandChange() throws(LedgerError) {
        try changeRefusal.withLock { (refusal) throws(LedgerError) in
            if let refusal, refusal.taken == 0 { throw refusal.error }
            refusal?.taken -= 1
        }
    }

    /// After so many it takes no part of an import.
    func refuseImports(after taken: Int, _ error: LedgerError) { importRefusal.withLock { $0 = (taken, error) } }

    /// After so many it takes no repair.
    func refuseRepairs(after taken: Int = 0, _ error: LedgerError) { repairRefusal.withLock { $0 = (taken, error) } }

    var askedForActions: Int { actionQuestions.withLock { $0 } }

    var questions: [String] { asked.withLock { $0 } }

    private func note(_ question: String) { asked.withLock { $0.append(question) } }

    /// Makes a ledger the first time.
    func migrate() -> (from: Int, to: Int) {
        note("migrate")
        return questions == ["migrate"] ? (0, 2) : (2, 2)
    }

    /// Its clock is ahead of the host's from now on, or behind.
    func setClockLead(_ milliseconds: Int64) { lead.withLock { $0 = milliseconds } }

    var clockLead: Int64 { lead.withLock { $0 } }

    func identity() throws(LedgerError) -> String { Self.id }

    func group() throws(LedgerError) -> ConsumerGroup? { owner }

    func knows(_ partitions: [TopicPartition]) throws(LedgerError) -> Bool {
        try Set(partitions).isSubset(of: self.partitions().map(\.partition))
    }

    /// From now on it has never heard of an app.
    func forget(_ app: BundleID) { unknownApps.withLock { _ = $0.insert(app) } }

    func hasGrants(of app: BundleID) throws(LedgerError) -> Bool { !unknownApps.withLock { $0.contains(app) } }

    /// From now on its tables of decisions have these places.
    func decide(_ places: ClosedRange<Int64>) { decided.withLock { $0 = places } }

    func look(at keys: [SubmissionKey], for searches: [Search]) throws(LedgerError) -> LedgerLook {
        var records: [SubmissionRecord] = []
        for key in keys { records.append(try record(of: key)) }
        var results = SearchResults(of: searches, in: try submissions(searches.flatMap(\.queries)))
        results.add(try owed(Array(results.owable)))
        return LedgerLook(records: records, results: results.all, partitions: try partitions())
    }

    private func record(of key: SubmissionKey) throws(LedgerError) -> SubmissionRecord {
        note("submission \(key.bundleID)/\(key.submissionID)")
        try demandAnswer()
        return key.bundleID == "com.example.game" ? Self.record(of: key.submissionID) : Self.record()
    }

    private static func record(of id: SubmissionID) -> SubmissionRecord {
        switch id {
        case "granted": record(grants: [grant()])
        case "failed": record(answer: .failed(failure))
        case "retrying": record(waiting: [waiting])
        case "held", "heldAndGranted", "h-2": record(waiting: [held])
        case "later": SubmissionRecord(grants: [], answer: nil, waiting: [], owed: [], later: 1)
        default: record()
        }
    }

    /// One row of each list, except for "nobody", "gone" and the transaction 404.
    func submissions(_ queries: [SubmissionQuery]) throws(LedgerError) -> [[SubmissionRow]] {
        for query in queries { note("submissions \(query)") }
        return queries.map { query in
            if let listed = listed.withLock({ $0 }) {
                let rows = listed.filter {
                    $0.state == query.state && $0.sequence < query.before ?? .max && $0.sequence >= query.from ?? .min
                }
                return Array(rows.prefix(query.limit))
            }
            if let held = held.withLock({ $0 }) { return query.state == .held ? Self.page(query, of: held) : [] }
            let words = [
                query.userID?.rawValue, query.submissionID?.rawValue, query.orderID?.rawValue,
                query.transactionID?.rawValue,
            ]
            guard !words.contains(where: { ["nobody", "gone", "later", "404"].contains($0) }) else { return [] }
            let isWaiting = query.state.isWaiting
            return [
                SubmissionRow(
                    sequence: 7, state: query.state, claimant: Self.claimant(query.submissionID ?? "s-7"),
                    origin: Self.origin, receivedAt: isWaiting ? Self.time : nil,
                    decidedAt: isWaiting ? nil : Self.time,
                    cause: [.granted, .repeated].contains(query.state) ? nil : "no_answer", transactionID: "1000007",
                    environment: query.state == .failed ? nil : query.orderID == "o-test" ? .sandbox : .production,
                    productID: "com.example.game.gems100", attempts: 3,
                    dueAt: isWaiting ? Self.time.advanced(by: .seconds(-180)) : nil,
                    owable: query.state == .granted
                        ? [.granted(Self.grant("1000007").reference, repeatOf: nil)] : [])
            ]
        }
    }

    /// Its lists have these rows alone from now on, whatever narrows them.
    func list(_ rows: [SubmissionRow]) { listed.withLock { $0 = rows } }

    /// From now on it has so many held submissions and no others, the latest a second old, each a second after the
    /// last.
    func hold(_ count: Int) { held.withLock { $0 = count } }

    private static func page(_ query: SubmissionQuery, of held: Int) -> [SubmissionRow] {
        let last: Int = query.before.map { Int($0) - 1 } ?? held
        let first: Int = max(1, last - query.limit + 1)
        guard first <= last else { return [] }
        return (first...last).reversed().map { (number: Int) -> SubmissionRow in
            SubmissionRow(
                sequence: Int64(number), state: .held, claimant: claimant(SubmissionID("h-\(number)")), origin: origin,
                receivedAt: time.advanced(by: .seconds(number - held - 1)), cause: "product_not_configured",
                transactionID: nil, productID: nil, attempts: 1)
        }
    }

    func grants(_ query: GrantQuery) throws(LedgerError) -> [GrantRow] {
        note("grants \(query)")
        return query.userID == "nobody" || query.bundleID == "com.example.puzzle"
            ? [] : [GrantRow(sequence: 9, grant: Self.grant())]
    }

    /// The rows of its outbox from now on.
    /// - Parameter later: Others, which only a later version can read.
    func owe(_ rows: [OutboxRow], later: Int = 0) {
        owed.withLock { $0 = rows }
        owedLater.withLock { $0 = later }
    }

    func laterOwed() throws(LedgerError) -> Int { owedLater.withLock { $0 } }

    func outbox(limit: Int) throws(LedgerError) -> [OutboxRow] { Array(owed.withLock { $0 }.prefix(limit)) }

    func owed(_ keys: [OutboxKey]) throws(LedgerError) -> [OutboxRow] {
        owed.withLock { $0 }.filter { keys.contains($0.key) }
    }

    func actions(on key: SubmissionKey?) throws(LedgerError) -> [OperatorAction] {
        actionQuestions.withLock { $0 += 1 }
        guard key?.submissionID == "retrying" else { return [] }
        return [
            OperatorAction(
                kind: .retry, note: OperatorNote(actor: "anna", reason: "Apple is well again", at: Self.time),
                submission: key)
        ]
    }

    func accept(
        ledger id: String, for group: ConsumerGroup, _ committed: [TopicPartition: Int64], _ note: OperatorNote
    ) throws(LedgerError) -> Bool {
        let offsets = committed.map { "\($0) at \($1)" }.sorted().joined(separator: ", ")
        self.note("accept \(id) for \(group) with \(offsets) by \(note.actor): \(note.reason) at \(note.at)")
        return id == Self.id
    }

    /// Its partition is complete up to this offset from now on.
    func complete(to next: Int64) { checkpoint.withLock { $0 = next } }

    func partitions() throws(LedgerError) -> [PartitionRow] {
        let next = checkpoint.withLock { $0 }
        return [PartitionRow(partition: Self.origin.topicPartition, next: next, owner: "host/1", starts: 2)]
    }

    func workers() throws(LedgerError) -> [WorkerRow] {
        [
            WorkerRow(
                name: "host/1", version: "1.0.0", startedAt: Self.time.advanced(by: .seconds(-7200)),
                seenAt: Self.time.advanced(by: .seconds(-12)), isLive: true),
            WorkerRow(
                name: "host/2", version: "0.9.0", startedAt: Self.time.advanced(by: .seconds(-9000)),
                seenAt: Self.time.advanced(by: .seconds(-3600)), isLive: false),
        ]
    }

    func note(_ kind: OperatorAction.Kind, _ note: OperatorNote) throws(LedgerError) {
        self.note("\(kind) by \(note.actor): \(note.reason)")
    }

    func pass(_ passed: PassedOffsets, _ note: OperatorNote) throws(LedgerError) -> PassResult {
        try demandChange()
        let next: Int64? = passed.partition == Self.origin.topicPartition ? 173 : nil
        guard next == passed.offsets.lowerBound else { return .standsAt(next) }
        self.note("pass \(passed.named(note).reason) by \(note.actor)")
        return .passed
    }

    func retryNow(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> Int? {
        try demandChange()
        self.note("retry \(key.bundleID)/\(key.submissionID) by \(note.actor): \(note.reason)")
        if key.submissionID == "taken" { return 0 }
        return key.submissionID == "retrying" || key.submissionID.rawValue.hasPrefix("h-") ? 1 : nil
    }

    func abandon(
        _ key: SubmissionKey, _ note: OperatorNote, where mayEnd: (RetryRow) -> Bool
    ) throws(LedgerError) -> [Outcome]? {
        try demandChange()
        guard Self.record(of: key.submissionID).waiting.allSatisfy(mayEnd) else { return nil }
        self.note("abandon \(key.bundleID)/\(key.submissionID) by \(note.actor): \(note.reason)")
        switch key.submissionID {
        case "held", "h-1", "h-2": return [.failed(reason: "abandoned_by_operator")]
        case "heldAndGranted": return [.repeated]
        case "heldForLater": return [.held(.laterVersion)]
        default: return []
        }
    }

    func audited(_ table: AuditedTable, after: Int64, limit: Int) throws(LedgerError) -> [AuditedRow] {
        try demandAnswer()
        return after < 1 ? audited.withLock { $0[table] ?? [] } : []
    }

    /// An audit finds this row alone in a table.
    func show(_ content: AuditedRow.Content, in table: AuditedTable) {
        audited.withLock { $0[table] = [AuditedRow(sequence: 1, content: content)] }
    }

    func repair(_ untold: [UntoldEvent], _ note: OperatorNote) throws(LedgerError) -> Int {
        try repairRefusal.withLock { (refusal) throws(LedgerError) in
            if let refusal, refusal.taken == 0 { throw refusal.error }
            refusal?.taken -= 1
        }
        self.note("repair \(untold.count) by \(note.actor): \(note.reason)")
        return untold.count
    }
}

extension FixedLedger {
    func span(of table: DecidedTable) throws(LedgerError) -> ClosedRange<Int64>? { decided.withLock { $0 } }

    func firstDecision(
        in table: DecidedTable, _ places: ClosedRange<Int64>
    ) throws(LedgerError) -> Timestamp? { nil }

    func events(_ query: DecidedQuery) throws(LedgerError) -> EventPage { EventPage([], of: query) }

    func add(imported grants: [Grant], isTrial: Bool) throws(LedgerError) -> [ImportResult] {
        try importRefusal.withLock { (refusal) throws(LedgerError) in
            if let refusal, refusal.taken == 0 { throw refusal.error }
            refusal?.taken -= 1
        }
        return grants.map { _ in .new }
    }

    func prune(
        _ places: ClosedRange<Int64>, before: Timestamp, isTrial: Bool
    ) throws(LedgerError) -> Int { 0 }

    /// From now on it answers erasures so, one after the other.
    func answer(erasures: [ErasureResult]) { erased.withLock { $0 = erasures } }

    func erase(_ erasure: Erasure, _ note: OperatorNote?) throws(LedgerError) -> ErasureResult {
        self.note(note == nil ? "erase as a trial" : "erase")
        let none = ErasureResult.Rows(grants: 0, answers: 0, actions: 0, isComplete: true)
        return erased.withLock { $0.isEmpty ? .done(none) : $0.removeFirst() }
    }
}
