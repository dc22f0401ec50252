import Audit
import CSQLite
import Contract
import FoundationEssentials
import Kafka
import Ledger
import LedgerSQLite
import MemberTesting
import PostgresTesting
import Synchronization

@testable import LedgerPostgres

/// The ledgers that an audit reads.
enum AuditedStore: String, CaseIterable, Sendable {
    case sqlite
    case postgres
}

/// A worker's life in small: records that it has decided, published and passed, and a hand that spoils something.
///
/// `@unchecked Sendable`: the audit runs on the test's thread while the test waits, also where it calls a test's hook.
final class AuditStage: @unchecked Sendable {
    static let noon = Timestamp(milliseconds: 1_795_953_600_000)
    static let app: BundleID = "com.example.game"
    static let product = Product(
        id: "com.example.gems", type: .consumable, items: [Item(item: "gems", quantity: 100)])
    private static let names = Atomic<Int>(0)
    private static let ownership = PartitionOwnership(
        partition: TopicsInMemory.partition(.submitted), generation: Generation(rawValue: 7))

    let topics = TopicsInMemory()
    let folder = "/dev/shm/grantor-audit-\(UUID().uuidString)"
    let ledger: any LedgerConnection & LedgerOperator
    /// The moment of whatever is done next.
    var now = AuditStage.noon
    /// Happens during the next audit, after its plan and before it reads rows, on the thread that reads them.
    var beforeRows: (@Sendable (any LedgerConnection & LedgerOperator) throws -> Void)?
    private let openings = Atomic<Int>(0)
    private let store: AuditedStore
    private let database: String
    private let opener: @Sendable () throws(LedgerError) -> any LedgerConnection & LedgerOperator

    init(_ store: AuditedStore = .sqlite) throws {
        self.store = store
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        switch store {
        case .sqlite:
            let configuration = SQLiteLedgerConfiguration(path: folder + "/ledger.db", clock: { Self.noon })
            try SQLiteLedger.migrate(configuration)
            database = configuration.path
            opener = { () throws(LedgerError) in try SQLiteLedger(configuration) }
        case .postgres:
            database = "audit\(Self.names.add(1, ordering: .relaxed).newValue)"
            try PostgresServer.shared.createDatabase(database)
            var configuration = try PostgresLedgerConfiguration(url: PostgresServer.shared.url(database: database))
            configuration.clock = { Self.noon }
            configuration.settings.demandsFsync = false
            configuration.settings.call = .seconds(180)
            configuration.settings.statement = .seconds(170)
            try PostgresLedger.migrate(configuration)
            let fixed = configuration
            opener = { () throws(LedgerError) in try PostgresLedger(fixed.auditing) }
        }
        ledger = try opener()
        _ = try ledger.bind(to: ConsumerGroup(name: "grantor", cluster: "cluster-1", topics: \.defaultName))
        _ = try ledger.takeOver([TakeOver(ownership: Self.ownership, owner: "worker", committed: nil)])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
        if store == .postgres { _ = try? PostgresServer.shared.run("DROP DATABASE \(database) WITH (FORCE)") }
    }

    // MARK: A worker

    /// A record of the input topic, as a backend submits it.
    func submit(_ id: String, user: String = "player-1", value: [UInt8]? = nil) -> InputRecord {
        let json = """
            {"submissionId": "\(id)", "userId": "\(user)", "bundleId": "\(Self.app)", "receipt": "cmVjZWlwdA=="}
            """
        return topics.append(.submitted, key: Array(user.utf8), value: value ?? Array(json.utf8), at: now)
    }

    func submission(_ record: InputRecord) throws -> Submission {
        guard case .submission(let submission) = SubmissionReading(record, now: now) else { throw AuditStageFailure() }
        return submission
    }

    static func purchase(
        _ transaction: TransactionID, original: TransactionID? = nil, environment: Environment = .production
    ) throws -> GrantablePurchase {
        let purchase = Purchase.sample(
            transaction, original: original, product: product.id, environment: environment, at: noon)
        guard let granted = GrantablePurchase(purchase, of: product) else { throw AuditStageFailure() }
        return granted
    }

    /// Writes a decision. Returns the events to publish.
    @discardableResult
    func write(
        _ submission: Submission, _ content: Decision.Content, lease: RetryLease? = nil, owesCall: Bool = false
    ) throws -> [RenderedEvent] {
        let decision = Decision(
            subject: .submission(submission), source: lease.map { .row($0) } ?? .record(Self.ownership),
            content: content, attempts: 1, decidedAt: now, owesCall: owesCall, tellsWaiting: false, repeats: .publish,
            doubtsNothingNew: false)
        guard case .written(_, let events, _)? = try ledger.write([decision]).first else { throw AuditStageFailure() }
        return events
    }

    func tell(_ events: [RenderedEvent]) { for event in events { topics.publish(event.event, at: now) } }

    /// Passes everything up to the end of the input topic.
    func complete() throws {
        let end = topics.log(.submitted).end
        _ = try ledger.checkpoint([OffsetCheckpoint(ownership: Self.ownership, next: end)])
        topics.commit(end)
    }

    /// Submitted, granted, told and passed.
    @discardableResult
    func grant(
        _ id: String, _ transaction: TransactionID, user: String = "player-1", isTold: Bool = true,
        owesCall: Bool = false
    ) throws -> [RenderedEvent] {
        let submission = try submission(submit(id, user: user))
        let events = try write(
            submission, .grant([Self.purchase(transaction)], by: .verifyReceipt), owesCall: owesCall)
        if isTold { tell(events) }
        try complete()
        return events
    }

    @discardableResult
    func fail(_ id: String, user: String = "player-1", isTold: Bool = true) throws -> [RenderedEvent] {
        let events = try write(
            try submission(submit(id, user: user)), .fail(Rejection(.receiptNotAuthentic, "Said so.")))
        if isTold { tell(events) }
        try complete()
        return events
    }

    func hold(_ id: String) throws {
        let entry = RetryEntry(
            cause: .retrying(.unreachable, Endpoint(.verifyReceipt, .production)), detail: "Nothing was heard.",
            delay: 0, history: AttemptHistory(), doubt: nil, isSigned: false, purchases: [])
        tell(try write(try submission(submit(id)), .wait(entry)))
        try complete()
    }

    /// The row of `retries` that is due, decided: its event is owed.
    func grantWaiting(_ transaction: TransactionID) throws {
        let request = DueRequest(endpoint: Endpoint(.verifyReceipt, .production), limit: 1, beforeDue: true)
        guard let due = try ledger.takeDue([request], bytes: .max).first else { throw AuditStageFailure() }
        try write(due.submission, .grant([Self.purchase(transaction)], by: .verifyReceipt), lease: due.lease)
    }

    /// Grants a waiting submission during the next audit. Its row comes after the outbox was looked at, and its event
    /// behind the ends of the topics. The reason is that the time of the first open record is looked at before the
    /// rows.
    func grantMeanwhile(then change: @escaping @Sendable () -> Void = {}) throws {
        try hold("s1")
        _ = submit("s2")
        topics.beforeReading(.submitted) {
            try? self.grantWaiting("1001")
            try? self.drain()
            change()
        }
    }

    /// Loses a record's quarantined copy during the next audit: it comes after the topic was read, and leaves it before
    /// the second look.
    func loseCopyMeanwhile(of record: InputRecord) {
        topics.beforeReading(.submitted) { [topics] in
            topics.publish(QuarantinedEvent.event(of: record, reason: "no JSON"), at: Self.noon)
            topics.beforeReading(.quarantined) { topics.truncate(.quarantined, before: 1) }
        }
    }

    /// Deletes answers as `grantor prune` does, a minute later.
    static func prune(_ ledger: any LedgerConnection & LedgerOperator, before: Timestamp) throws {
        let note = OperatorNote(actor: "anna", reason: "a year: enough", at: before.advanced(by: .seconds(60)))
        try ledger.note(.prune, note.pruning(before: before))
        _ = try ledger.prune(0...(.max), before: before, isTrial: false)
    }

    /// A record that cannot be read, quarantined.
    @discardableResult
    func quarantine(_ text: String = "no JSON", isTold: Bool = true) throws -> InputRecord {
        let record = submit("", value: Array(text.utf8))
        if isTold { topics.publish(QuarantinedEvent.event(of: record, reason: "no JSON"), at: now) }
        try complete()
        return record
    }

    func owe(_ key: OutboxKey) throws {
        _ = try ledger.owe([OutboxEntry(ownership: Self.ownership, key: key, delay: 0, stub: nil)])
    }

    /// Publishes what the outbox owes.
    func drain() throws {
        for topic in Topic.outputs {
            for item in try ledger.takeOutbox([OutboxRequest(target: .topic(topic), limit: 1_000)]) {
                guard case .publish(let event) = item.work else { continue }
                topics.publish(event, at: now)
                try ledger.report([.published(item.lease)])
            }
        }
    }

    /// A bit of everything, all of it as it has to be.
    func everything() throws {
        try grant("s1", "1001")
        try grant("s2", "1002", user: "player-2")
        try grant("s3", "1001")  // The same user's: a repeat, whose copy is told.
        try fail("s4")
        try hold("s5")
        try quarantine()
        // The same record again, and the same submission in another record.
        tell(try write(try submission(submit("s1")), .grant([Self.purchase("1001")], by: .verifyReceipt)))
        let events = try grant("s6", "1006", isTold: false)
        for event in events { try owe(event.key) }
        try hold("s7")
        try grantWaiting("1007")
        try complete()
    }

    // MARK: An audit

    func audit(
        since: Timestamp? = nil, judged: [TopicPartition: Int64] = [:], isStandby: Bool = false,
        group: String = "grantor"
    ) throws -> AuditReport {
        openings.store(0, ordering: .relaxed)
        return try Audit(
            topics: topics, names: Dictionary(uniqueKeysWithValues: Topic.allCases.map { ($0, $0.defaultName) }),
            group: ConsumerGroup(name: group, cluster: "cluster-1", topics: \.defaultName), folder: folder,
            openLedger: { [self] () throws(LedgerError) in
                if openings.add(1, ordering: .relaxed).oldValue == 1 { try? beforeRows?(opener()) }
                return AuditedLedger(try opener(), isStandby: isStandby)
            }
        ).run(since: since, judged: judged, now: max(now, Self.noon))
    }

    /// Spoils tables by hand. Statements are separated by semicolons.
    func sql(_ sql: String) throws {
        switch store {
        case .postgres: _ = try PostgresServer.shared.run(sql, database: database)
        case .sqlite:
            var connection: OpaquePointer?
            defer { sqlite3_close(connection) }
            guard sqlite3_open(database, &connection) == SQLITE_OK,
                sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK
            else { throw AuditStageFailure() }
        }
    }
}

struct AuditStageFailure: Error {}

extension AuditReport {
    /// The findings, such as `grant_untold 1`.
    var words: [String] { found.map { "\($0.key.rawValue) \($0.value)" }.sorted() }
    /// The parts that were not looked at, such as `removed receipts.submitted/0`.
    var gaps: [String] { unseen.map { "\($0.reason.rawValue) \($0.what)" }.sorted() }
    var mendable: [UntoldEvent] { inconsistencies.compactMap(\.mend) }
}
