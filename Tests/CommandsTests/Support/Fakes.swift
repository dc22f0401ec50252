import AppStore
import Audit
import CommandParser
import Configuration
import Contract
import Foundation
import Fulfilment
import Ledger
import Logging
import Scheduling
import Synchronization

@testable import Commands
@testable import Kafka

/// A cluster whose state a test sets, and which notes the topics that were made.
struct FixedCluster: ClusterAdmin {
    final class Created: Sendable {
        private let topics = Mutex<[KafkaNewTopic]>([])

        var all: [KafkaNewTopic] { topics.withLock { $0 } }

        func add(_ new: [KafkaNewTopic]) { topics.withLock { $0 += new } }
    }

    static let away = KafkaError.transient(KafkaFailure(code: -195, name: "_TRANSPORT", text: "Connection refused"))

    static let notCoordinator = KafkaError.transient(
        KafkaFailure(code: 16, name: "NOT_COORDINATOR", text: "Broker: Not coordinator"))
    static let topicExists = KafkaError.rejected(
        KafkaFailure(code: 36, name: "TOPIC_ALREADY_EXISTS", text: "Broker: Topic already exists"))

    var id: String? = "cluster-1"
    var brokers = 3
    var topics: [String: KafkaClusterDescription.Topic] = [:]
    var properties: [String: [String: String]] = [:]
    /// The failure of every call but ``createTopics(_:)``.
    var failure: KafkaError?
    var committed: [TopicPartition: Int64] = [:]
    /// The failure of the calls that follow ``describe()``: ``committedOffsets(of:in:)`` and ``topicConfigurations(of:)``.
    var laterFailure: KafkaError?
    var creationFailures: [String: KafkaError] = [:]
    /// Rights that the user has not, by topics, `group NAME` and `cluster`.
    var rights: [String: KafkaRight] = [:]
    /// Topics that are not among all that the brokers tell of, as they are told of by their names.
    var hidden: [String: KafkaClusterDescription.Topic] = [:]
    /// Of a broker that is not where it says.
    var unreachable: KafkaError?
    let created = Created()

    /// A cluster with all topics as `grantor topics create` makes them.
    static var complete: FixedCluster {
        var cluster = FixedCluster()
        for topic in Topic.allCases {
            cluster.topics[topic.defaultName] = .present(partitions())
            cluster.properties[topic.defaultName] = TopicRequirements.configuration(of: topic, replicas: 3)
        }
        return cluster
    }

    static func partitions(
        leaderless: Int = 0, replicas: Int = 3, inSync: Int = 3
    ) -> KafkaClusterDescription.Partitions {
        KafkaClusterDescription.Partitions(
            count: 12, leaderless: leaderless, replicas: replicas, inSyncReplicas: inSync)
    }

    func describe() throws(KafkaError) -> KafkaClusterDescription {
        if let failure { throw failure }
        return KafkaClusterDescription(id: id, brokers: brokers, topics: topics)
    }

    func topicConfigurations(of topics: [String]) throws(KafkaError) -> [String: Result<[String: String], KafkaError>] {
        if let failure = failure ?? laterFailure { throw failure }
        return properties.filter { topics.contains($0.key) }.mapValues { .success($0) }
    }

    func committedOffsets(
        of group: String, in partitions: [TopicPartition]
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        if let failure = failure ?? laterFailure { throw failure }
        return committed.filter { partitions.contains($0.key) }
    }

    func topic(_ name: String) throws(KafkaError) -> KafkaClusterDescription.Topic { hidden[name] ?? .missing }

    func reachBrokers() throws(KafkaError) { if let unreachable { throw unreachable } }

    func rights(toRead input: String, as group: String, toWrite outputs: [String]) -> KafkaRights {
        KafkaRights(
            group: rights["group \(group)"] ?? .given, input: rights[input] ?? .given,
            outputs: Dictionary(uniqueKeysWithValues: outputs.map { ($0, rights[$0] ?? .given) }),
            idempotence: rights["cluster"] ?? .given)
    }

    func createTopics(_ topics: [KafkaNewTopic]) throws(KafkaError) -> [String: KafkaError?] {
        created.add(topics)
        return Dictionary(uniqueKeysWithValues: topics.map { ($0.name, creationFailures[$0.name]) })
    }
}

/// A ledger that has two apps' submissions in every state, and notes what was asked of it.
final class FixedLedger: LedgerOperator, Sendable {
    static let id = "0b7d9a52-0000-4000-8000-000000000001"
    static let time = Timestamp(milliseconds: 1_700_000_000_000)

    private let asked = Mutex<[String]>([])
    private let owed = Mutex<[OutboxRow]>([])
    private let held = Mutex<Int?>(nil)
    private let owner: ConsumerGroup?
    private let refusal = Mutex<LedgerError?>(nil)
    private let actionQuestions = Mutex(0)
    private let audited = Mutex<[AuditedTable: [AuditedRow]]>([:])

    /// - Parameter owner: The group whose ledger it is.
    init(owner: ConsumerGroup? = nil) { self.owner = owner }

    /// From now on it answers no question about one submission.
    func refuse(_ error: LedgerError?) { refusal.withLock { $0 = error } }

    var askedForActions: Int { actionQuestions.withLock { $0 } }

    var questions: [String] { asked.withLock { $0 } }

    private func note(_ question: String) { asked.withLock { $0.append(question) } }

    /// Makes a ledger the first time.
    func migrate() -> (from: Int, to: Int) {
        note("migrate")
        return questions == ["migrate"] ? (0, 2) : (2, 2)
    }

    func identity() throws(LedgerError) -> String { Self.id }

    func group() throws(LedgerError) -> ConsumerGroup? { owner }

    /// It is a new one.
    func knows(_ partitions: [TopicPartition]) throws(LedgerError) -> Bool { partitions.isEmpty }

    func submission(_ key: SubmissionKey) throws(LedgerError) -> SubmissionRecord {
        note("submission \(key.bundleID)/\(key.submissionID)")
        if let error = refusal.withLock({ $0 }) { throw error }
        guard key.bundleID == "com.example.game" else { return Self.record() }
        switch key.submissionID {
        case "granted": return Self.record(grants: [Self.grant()])
        case "failed": return Self.record(answer: .failed(Self.failure))
        case "retrying": return Self.record(waiting: [Self.waiting])
        case "held", "heldAndGranted": return Self.record(waiting: [Self.held])
        case "later": return SubmissionRecord(grants: [], answer: nil, waiting: [], owed: [], later: 1)
        default: return Self.record()
        }
    }

    /// One row of each list, but for what is "nobody" or "gone".
    func submissions(_ queries: [SubmissionQuery]) throws(LedgerError) -> [[SubmissionRow]] {
        for query in queries { note("submissions \(query)") }
        return queries.map { query in
            if let held = held.withLock({ $0 }) { return query.state == .held ? Self.page(query, of: held) : [] }
            let words = [query.userID?.rawValue, query.submissionID?.rawValue, query.orderID?.rawValue]
            guard !words.contains(where: { ["nobody", "gone", "later"].contains($0) }) else { return [] }
            let isWaiting = query.state.isWaiting
            return [
                SubmissionRow(
                    sequence: 7, state: query.state, claimant: Self.claimant(query.submissionID ?? "s-7"),
                    origin: Self.origin, receivedAt: isWaiting ? Self.time : nil,
                    decidedAt: isWaiting ? nil : Self.time,
                    cause: "no_answer", transactionID: "1000007", productID: "com.example.game.gems100", attempts: 3,
                    dueAt: isWaiting ? Self.time.advanced(by: .seconds(-180)) : nil)
            ]
        }
    }

    /// From now on it has so many held submissions and no others, the latest a second old, each a second after the last.
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
        return query.userID == "nobody" ? [] : [GrantRow(sequence: 9, grant: Self.grant())]
    }

    /// The rows of its outbox from now on.
    func owe(_ rows: [OutboxRow]) { owed.withLock { $0 = rows } }

    func outbox(limit: Int) throws(LedgerError) -> [OutboxRow] { Array(owed.withLock { $0 }.prefix(limit)) }

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

    func partitions() throws(LedgerError) -> [PartitionRow] {
        [PartitionRow(partition: Self.origin.topicPartition, next: 173, owner: "host/1", starts: 2)]
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
        let next: Int64? = passed.partition == Self.origin.topicPartition ? 173 : nil
        guard next == passed.offsets.lowerBound else { return .standsAt(next) }
        self.note("pass \(passed.named(note).reason) by \(note.actor)")
        return .passed
    }

    func retryNow(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> Int {
        self.note("retry \(key.bundleID)/\(key.submissionID) by \(note.actor): \(note.reason)")
        return key.submissionID == "retrying" || key.submissionID.rawValue.hasPrefix("h-") ? 1 : 0
    }

    func abandon(_ key: SubmissionKey, _ note: OperatorNote) throws(LedgerError) -> [Outcome] {
        self.note("abandon \(key.bundleID)/\(key.submissionID) by \(note.actor): \(note.reason)")
        switch key.submissionID {
        case "held", "h-1", "h-2": return [.failed(reason: "abandoned_by_operator")]
        case "heldAndGranted": return [.repeated]
        default: return []
        }
    }

    func audited(_ table: AuditedTable, after: Int64, limit: Int) throws(LedgerError) -> [AuditedRow] {
        if let error = refusal.withLock({ $0 }) { throw error }
        return after < 1 ? audited.withLock { $0[table] ?? [] } : []
    }

    /// An audit finds this row alone in a table.
    func show(_ content: AuditedRow.Content, in table: AuditedTable) {
        audited.withLock { $0[table] = [AuditedRow(sequence: 1, content: content)] }
    }

    func repair(_ untold: [UntoldEvent], _ note: OperatorNote) throws(LedgerError) -> Int {
        self.note("repair \(untold.count) by \(note.actor): \(note.reason)")
        return untold.count
    }
}

extension FixedLedger {
    func span(of table: DecidedTable) throws(LedgerError) -> ClosedRange<Int64>? { nil }

    func firstDecision(
        in table: DecidedTable, _ places: ClosedRange<Int64>
    ) throws(LedgerError) -> Timestamp? { nil }

    func events(_ query: DecidedQuery) throws(LedgerError) -> EventPage { EventPage([], of: query) }

    func add(imported grants: [Grant], isTrial: Bool) throws(LedgerError) -> [ImportResult] { grants.map { _ in .new } }

    func prune(
        _ places: ClosedRange<Int64>, before: Timestamp, isTrial: Bool
    ) throws(LedgerError) -> Int { 0 }

    func erase(_ erasure: Erasure, _ note: OperatorNote?) throws(LedgerError) -> ErasureResult {
        .done(ErasureResult.Rows(grants: 0, answers: 0, actions: 0, isComplete: true))
    }
}

extension FixedLedger {
    static let origin = Origin(topic: "receipts.submitted", partition: 5, offset: 173)

    static func claimant(_ id: SubmissionID, user: UserID = "u-1") -> Claimant {
        Claimant(submissionID: id, userID: user, bundleID: "com.example.game", orderID: "o-1", traceparent: nil)
    }

    static func record(
        grants: [Grant] = [], answer: Answer? = nil, waiting: [RetryRow] = [], owed: [OutboxRow] = []
    ) -> SubmissionRecord {
        SubmissionRecord(
            grants: grants.map { GrantRow(sequence: 1, grant: $0) }, answer: answer, waiting: waiting, owed: owed,
            later: 0)
    }

    static func grant(
        _ transactionID: TransactionID = "1000001", passingOver passedOver: PassedOver? = nil
    ) -> Grant {
        Grant(
            key: GrantKey(environment: .production, name: "t:\(transactionID)"), transactionID: transactionID,
            originalTransactionID: transactionID, webOrderLineItemID: nil,
            product: Product(
                id: "com.example.game.gems100", type: .consumable, items: [Item(item: "gems", quantity: 100)]),
            quantity: 2, purchasedAt: time, expiresAt: nil, ownership: .purchased, payment: nil, offer: nil,
            verifiedBy: "signedTransaction", claimant: claimant("granted"), origin: origin, receivedAt: time,
            grantedAt: time, attempts: 1, format: .current, passedOver: passedOver)
    }

    static var failure: Failure {
        Failure(
            claimant: claimant("failed"), reason: "unknown_product", detail: "The catalogue has no such product.",
            transactionID: "1000002", productID: "p", failedAt: time, attempts: 2, digest: ClaimDigest(of: submission),
            origin: origin, format: .current)
    }

    static var submission: Submission {
        Submission(
            claimant: claimant("retrying"),
            claim: Claim(
                transactionID: "1000003", productID: nil, appAccountToken: nil, environment: nil, submittedAt: nil),
            evidence: .receipt(base64: "canary"), origin: origin, receivedAt: time)
    }

    static var waiting: RetryRow {
        let attempt = Attempt(at: time, cause: "no_answer", detail: "HTTP 502.")
        return RetryRow(
            key: ClaimDigest(of: submission), submission: submission,
            entry: RetryEntry(
                cause: .retrying(.noAnswer, Endpoint(.verifyReceipt, .production)), detail: "HTTP 502.", delay: 15_000,
                history: AttemptHistory([attempt]), doubt: nil, isSigned: false, purchases: []),
            attempts: 1, dueAt: time.advanced(by: .seconds(15)), isLeased: false)
    }

    static var held: RetryRow {
        RetryRow(
            key: ClaimDigest(of: submission), submission: submission,
            entry: RetryEntry(
                cause: .held(.advancedCommerce), detail: "SKUs.", delay: 0, history: AttemptHistory(), doubt: nil,
                isSigned: false, purchases: []), attempts: 1, dueAt: time, isLeased: false)
    }

    static func owed(_ step: OutboxStep) -> OutboxRow {
        OutboxRow(
            key: .granted(grant().reference, repeatOf: nil), step: step,
            target: step == .call ? .service("com.example.game") : .topic(.granted), dueAt: time, isLeased: false,
            attempts: 4)
    }
}

/// Topics of one partition each, as an audit reads them.
struct FixedTopics: AuditedTopics {
    var records: [Topic: [InputRecord]] = [:]
    /// The input topic's.
    var committed: Int64?

    static func record(_ topic: Topic, _ offset: Int64, _ value: String) -> InputRecord {
        InputRecord(
            origin: Origin(topic: topic.defaultName, partition: 0, offset: offset), key: nil, value: Array(value.utf8),
            timestamp: FixedLedger.time)
    }

    func committed(in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        Dictionary(partitions.compactMap { partition in committed.map { (partition, $0) } }) { first, _ in first }
    }

    func offsets(of topic: String) throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        let count = records.first { $0.key.defaultName == topic }?.value.count ?? 0
        return [TopicPartition(topic: topic, partition: 0): 0..<Int64(count)]
    }

    func offsets(
        at time: Timestamp, in partitions: [TopicPartition]
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        time > FixedLedger.time ? [:] : Dictionary(partitions.map { ($0, 0) }) { first, _ in first }
    }

    func read(
        _ stretches: [TopicPartition: Range<Int64>], _ take: (TopicPartition, [InputRecord]) -> Bool
    ) throws(KafkaError) {
        for (partition, stretch) in stretches {
            let records = records.first { $0.key.defaultName == partition.topic }?.value ?? []
            guard take(partition, records.filter { stretch.contains($0.origin.offset) }) else { return }
        }
    }
}

/// An Apple that answers every call alike, and notes what it was asked.
struct FixedApple: AppleCaller {
    final class Asked: Sendable {
        private let calls = Mutex<[String]>([])

        var all: [String] { calls.withLock { $0 } }

        func add(_ call: String) { calls.withLock { $0.append(call) } }
    }

    var answer = AppStoreReply.response(httpStatus: 200, retryAfter: nil, body: Array("{\"status\":21002}".utf8))
    /// Of one environment, in place of ``answer``.
    var sandboxAnswer: AppStoreReply?
    let asked = Asked()

    func reply(to call: AppleCall) -> AppStoreReply {
        asked.add("\(call)")
        return call.endpoint.environment == .sandbox ? sandboxAnswer ?? answer : answer
    }

    func replyToEmptyReceipt(_ environment: Environment) -> AppStoreReply {
        asked.add("empty receipt \(environment.rawValue)")
        return environment == .sandbox ? sandboxAnswer ?? answer : answer
    }
}

/// Takes no event.
final class NoPublisher: EventPublisher {
    func publish(_ events: [Event]) throws(CommandFailure) { throw CommandFailure(.failed, "no broker") }
    func close() {}
}

/// A private key of the kind that App Store Connect gives out, made for tests.
enum SampleKey {
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBxpef9DWetR3yVKw
        Qww8sAedmOJYzybjYy5m9lWQI0GhRANCAATqW57kLqz4KmlrUMBTQ0+E38BWUEys
        3IVIxGXwnfu7a6NXU9fh+WF1X2CnGN395QeuAeXz353VDbkD9iZuH91R
        -----END PRIVATE KEY-----
        """
}

/// A call of the program with a ledger and an apps file of its own.
struct SampleRun {
    /// The end of a call.
    struct Result: Equatable {
        let status: ExitStatus
        let output: String
        let errors: String
        /// Each line's format, level and cause.
        let log: [String]
    }

    /// Lines of a worker's log.
    private final class Lines: Sendable {
        private struct Handler: LogHandler {
            let format: LineLogHandler.Format
            let lines: Lines

            func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
                lines.taken.withLock { $0.append("\(format) \(level) \(metadata["cause"]?.description ?? message)") }
            }
        }

        private let taken = Mutex<[String]>([])
        var all: [String] { taken.withLock { $0 } }

        func handler(_ format: LineLogHandler.Format) -> any LogHandler { Handler(format: format, lines: self) }
    }

    var ledger = FixedLedger()
    var cluster = FixedCluster()
    var apple = FixedApple()
    var quarantine = FixedQuarantine()
    var hasLedger = true
    /// Of every inventory service.
    var service = FulfilmentReply.response(status: 404, key: nil, retryAfter: nil)
    var findings: [LedgerFinding] = []
    let folder: String
    var environment: [String: String]
    var open: @Sendable () throws(LedgerError) -> Void = {}
    let pauses = Pauses()

    /// The times that commands let pass.
    final class Pauses: Sendable {
        private let taken = Mutex<[Duration]>([])
        var all: [Duration] { taken.withLock { $0 } }
        func add(_ pause: Duration) { taken.withLock { $0.append(pause) } }
    }

    var topics = FixedTopics()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "grantor-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let apps = folder + "/apps.yaml"
        // The secret is not there: commands that read ledgers only do without.
        try "apps: [{bundleId: com.example.puzzle}, {bundleId: com.example.game, sharedSecretFiles: [none]}]\n"
            .write(toFile: apps, atomically: true, encoding: .utf8)
        environment = ["GRANTOR_LEDGER_URL": "sqlite:\(folder)/grantor.db", "GRANTOR_APPS_FILE": apps]
    }

    func callAsFunction(_ line: String) -> Result { run(line.split(separator: " ").map(String.init)) }

    func run(_ arguments: [String]) -> Result {
        let output = Mutex("")
        let errors = Mutex("")
        let log = Lines()
        let context = CommandContext(
            environment: environment, width: nil, now: { FixedLedger.time }, clock: { Instant(nanoseconds: 0) },
            pause: { [pauses] in pauses.add($0) },
            output: { text throws(CommandFailure) in output.withLock { $0 += text } },
            progress: ProgressOutput(isTerminal: false) { _ in },
            ledgers: LedgerOpener(
                exists: { [hasLedger] _ in hasLedger }, examine: { [findings] _, _ in findings },
                open: { [ledger, open] _ throws(LedgerError) in
                    try open()
                    return ledger
                },
                openAudited: { [ledger] _ in AuditedLedger(ledger) },
                migrate: { [ledger, open] _ throws(LedgerError) in
                    try open()
                    return ledger.migrate()
                }), auditedTopics: { [topics] _ in topics }, cluster: { [cluster] _ in cluster },
            quarantine: { [quarantine] _ in quarantine },
            publisher: { _ in NoPublisher() }, checkClients: { _ in }, apple: { [apple] _ in apple },
            service: { [service] _ in service },
            logHandler: { log.handler($0) })
        let status = GrantorProgram.program.run(
            arguments, context: context,
            output: { text throws(CommandFailure) in output.withLock { $0 += text } },
            errors: { text in errors.withLock { $0 += text } })
        return Result(
            status: status, output: output.withLock { $0 }, errors: errors.withLock { $0 }, log: log.all)
    }
}
