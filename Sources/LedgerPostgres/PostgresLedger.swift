public import Contract
public import Ledger
import Scheduling

/// Where a ledger on PostgreSQL is, and how it is used.
public struct PostgresLedgerConfiguration: Sendable {
    private(set) var options: PostgresOptions
    var settings = PostgresSettings()
    /// Shared by all connections of a process.
    private(set) var mark = LedgerMark()
    /// Whether a standby will do, too.
    private(set) var mayBeStandby = false
    /// Milliseconds for which a sample of the waiting rows is good enough. One worker takes it, the others read it.
    var sampleMilliseconds: Int64 = 9_000
    /// It is also good for so many times as long as it took. However much waits, counting it takes the server a
    /// twentieth of a core.
    var sampleRest: Int64 = 20
    /// A table of more pages and rows is counted by so many pages of it. Otherwise, with tens of millions of waiting
    /// rows, a sample would take longer than a call may. A ledger that cannot be sampled counts as away.
    var samplePages: Int64 = 8_192
    var sampleRows: Int64 = 1_000_000
    /// The ledger's clock, by which rows are due and leases end; nil for the database's own.
    var clock: (@Sendable () -> Timestamp)?

    /// A ledger with the settings that suit a worker. Copies share the state that the connections of a process share.
    /// - Parameters:
    ///   - url: `postgres://user@host,host/database?…`, as libpq reads it.
    ///   - password: nil if the URL or the environment has it, or none is needed.
    /// - Throws: `.unusable` for a URL that makes no sense; the text has none of its password.
    public init(url: String, password: PasswordSource? = nil) throws(LedgerError) {
        do throws(PostgresFailure) {
            options = try PostgresOptions(url: url, password: password)
        } catch {
            throw .unusable(detail: error.text)
        }
    }
}

extension PostgresLedgerConfiguration {
    /// The same ledger for reading alone, with a limit for each wait. The limit is for an opening, in which all hosts
    /// have their turn, and for a call.
    public func reading(within limit: Duration) -> PostgresLedgerConfiguration {
        var configuration = self
        configuration.options.connectTimeout = min(options.connectTimeout, limit / options.hosts.count)
        configuration.settings.opening = limit
        configuration.settings.call = limit
        // The server ends a statement before this side gives the connection up.
        configuration.settings.statement = limit * 3 / 4
        configuration.settings.lock = limit / 2
        return configuration
    }
}

extension PostgresLedgerConfiguration {
    /// The same ledger to be read only, also from a standby: the first host that answers.
    public var auditing: PostgresLedgerConfiguration {
        var configuration = self
        configuration.options.target = .any
        configuration.mayBeStandby = true
        configuration.mark = LedgerMark()
        return configuration
    }

    /// Asks where a session is, and for the time there. A standby answers only a reader that may use one.
    var look: PostgresStatement { mayBeStandby ? PostgresLedger.lookAnywhere : PostgresLedger.look }
}

/// One connection to a ledger on PostgreSQL, for any number of workers on any number of hosts.
///
/// Every call is one transaction, except a write that goes the fast path in part. Each begins with a look at which
/// database this is. Another one than at the opening ends the call with `.disconnected`. Nothing was written then,
/// except for the grants of a write on the fast path, which are good wherever they stand. Transactions that stood in
/// each other's way are tried again here.
public final class PostgresLedger: LedgerConnection {
    /// Tries of one call whose transaction lost against another, such as in a deadlock.
    static let mostTries = 4

    let connection: PostgresConnection
    let configuration: PostgresLedgerConfiguration
    let place: LedgerPlace
    /// Numbers of `products` that this session has seen committed.
    var knownProducts: Set<Int64> = []
    public private(set) var clockLead: Int64 = 0

    /// Whether the database has a ledger, of any version.
    /// - Throws: as ``init(_:)``, except for the ledger's absence and version.
    public static func exists(_ configuration: PostgresLedgerConfiguration) throws(LedgerError) -> Bool {
        try PostgresOpening(configuration: configuration).isThere()
    }

    /// Makes a ledger where there is none, or brings an older one up to date. May be called again.
    /// - Returns: The versions of the schema before and after; 0 where there was no ledger.
    /// - Throws: `.unusable` where a person must look: no such database, no right to make tables, foreign tables, a
    ///   newer ledger. The error is `.unavailable` for what may pass.
    @discardableResult
    public static func migrate(
        _ configuration: PostgresLedgerConfiguration
    ) throws(LedgerError) -> (from: Int, to: Int) {
        try PostgresOpening(configuration: configuration).migrate()
    }

    /// Opens a ledger that ``migrate(_:)`` has made.
    /// - Throws: `.unusable` if there is no ledger, or one of a version that this program does not work with. The same
    ///   goes for a session whose settings cannot keep the ledger's promises. The error is `.unavailable` if the server
    ///   cannot be reached.
    public init(_ configuration: PostgresLedgerConfiguration) throws(LedgerError) {
        let opened = try PostgresOpening(configuration: configuration).open()
        connection = opened.connection
        place = opened.place
        self.configuration = configuration
    }

    public func identity() throws(LedgerError) -> String { try read { (_) throws(PostgresFailure) in place.id } }

    public func bind(to group: ConsumerGroup) throws(LedgerError) -> ConsumerGroup {
        if let owner = try self.group() { return owner }
        return try write { (_) throws(PostgresFailure) in try connection.group.bind(to: group) }
    }

    // MARK: Partitions

    public func takeOver(_ requests: [TakeOver]) throws(LedgerError) -> [TakeOverResult] {
        guard !requests.isEmpty else { return [] }
        return try write { (_) throws(PostgresFailure) in
            let starts = try connection.partitions.takeOver(requests)
            return requests.map { request in
                starts[request.ownership.partition].map { .taken($0) } ?? .forgotten(ledger: place.id)
            }
        }
    }

    public func checkpoint(_ checkpoints: [OffsetCheckpoint]) throws(LedgerError) -> [Bool] {
        try each(checkpoints, by: \.ownership.partition) { checkpoint, _ in PartitionTable.checkpoint(checkpoint) }
    }

    public func mark(_ marks: [CheckMark]) throws(LedgerError) -> [Bool] {
        try each(marks, by: \.ownership.partition) { mark, _ in PartitionTable.mark(mark) }
    }

    // MARK: Look-ups

    public func knownOutcomes(of origins: [Origin]) throws(LedgerError) -> [KnownOutcome] {
        guard !origins.isEmpty else { return [] }
        let outcomes = try read { (_) throws(PostgresFailure) in
            let ranges = OriginRange.covering(origins)
            let grants = try connection.grants.found(from: ranges)
            let answers = try connection.answers.found(from: ranges)
            let waiting = try connection.retries.waiting(from: ranges)
            let answering = try connection.grants.holders(answers.answering)
            return KnownOutcomes(grants: grants, answers: answers, answering: answering, waiting: waiting)
        }
        // The ranges may have more offsets than were asked for.
        return outcomes.sorted(of: origins)
    }

    public func lookUp(_ questions: [GrantLookup]) throws(LedgerError) -> [GrantReference?] {
        guard !questions.isEmpty else { return [] }
        let found = try read { (_) throws(PostgresFailure) in
            try connection.grants.found(of: Set(questions.map(\.transactionID)))
        }
        // A grant that only a later version can read gives no answer here: Apple is asked, and the write finds the
        // grant.
        let grants = Dictionary(grouping: found.known.map(\.grant), by: \.transactionID)
        return questions.map { question in
            (grants[question.transactionID] ?? []).sorted { $0.reference < $1.reference }
                .first(where: question.isAnswered)?.reference
        }
    }

    // MARK: Leases

    public func takeDue(_ requests: [DueRequest], bytes: Int) throws(LedgerError) -> [DueRetry] {
        try write { (now) throws(PostgresFailure) in
            if let suspect = try connection.retries.takeSuspect(now: now) { return [suspect] }
            var left = bytes
            var taken: [DueRetry] = []
            for request in requests { taken += try connection.retries.take(request, bytes: &left, now: now) }
            return taken
        }
    }

    public func renew(_ renewals: [LeaseRenewal]) throws(LedgerError) -> [Bool] {
        try each(renewals, by: \.lease.key) { renewal, now in RetryTable.renew(renewal, now: now) }
    }

    public func giveBack(retries: [RetryLease], outbox: [OutboxLease]) throws(LedgerError) {
        guard !retries.isEmpty || !outbox.isEmpty else { return }
        try write { (now) throws(PostgresFailure) in
            _ = try connection.run(
                retries.sorted { $0.key < $1.key }.map { RetryTable.giveBack($0, now: now) }
                    + outbox.sorted { $0.key.text < $1.key.text }.map { OutboxTable.giveBack($0, now: now) })
        }
    }

    // MARK: Outbox

    public func owe(_ entries: [OutboxEntry]) throws(LedgerError) -> [Bool] {
        guard !entries.isEmpty else { return [] }
        return try write { (now) throws(PostgresFailure) in
            let failures = try connection.answers.failures(among: entries.compactMap(\.key.failure))
            let owned = try connection.partitions.owned(Set(entries.map(\.ownership)))
            let flags = entries.map { entry in
                owned[entry.ownership] != nil && (entry.key.failure.map(failures.contains) ?? true)
            }
            try connection.outbox.insert(
                zip(entries, flags).filter(\.1).map { NewOutboxRow($0.0) }, now: now)
            return flags
        }
    }

    public func takeOutbox(_ requests: [OutboxRequest]) throws(LedgerError) -> [OutboxItem] {
        guard !requests.isEmpty else { return [] }
        return try write { (now) throws(PostgresFailure) in
            var taken: [OutboxItem] = []
            for request in requests { taken += try connection.outbox.take(request, now: now) }
            return taken
        }
    }

    public func report(_ reports: [OutboxReport]) throws(LedgerError) {
        guard !reports.isEmpty else { return }
        try write { (now) throws(PostgresFailure) in _ = try connection.run(OutboxTable.reports(reports, now: now)) }
    }

    // MARK: Transactions

    /// Runs a block in one transaction, at one moment of the ledger's clock.
    /// - Parameter keeps: Whether the block's result is worth its commit; else nothing of the transaction stays.
    func write<Value>(
        keeps: (Value) -> Bool = { _ in true }, _ body: (Timestamp) throws(PostgresFailure) -> Value
    ) throws(LedgerError) -> Value {
        try call { () throws(PostgresFailure) in try transaction("BEGIN", keeps: keeps, body) }
    }

    /// Runs a block on one snapshot.
    func read<Value>(_ body: (Timestamp) throws(PostgresFailure) -> Value) throws(LedgerError) -> Value {
        try call { () throws(PostgresFailure) in
            try transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", body)
        }
    }

    private func call<Value>(_ body: () throws(PostgresFailure) -> Value) throws(LedgerError) -> Value {
        do throws(PostgresFailure) {
            return try connection.call { () throws(PostgresFailure) in try tried(body) }
        } catch {
            throw failed(error)
        }
    }

    func failed(_ failure: PostgresFailure) -> LedgerError {
        failure.error(at: configuration.options.description, isOpening: false)
    }

    /// Runs a statement for each element; true for each that changed a row.
    /// - Parameter key: The row's key. All transactions lock rows in the order of their keys.
    private func each<Element, Key: Comparable>(
        _ elements: [Element], by key: (Element) -> Key, _ statement: (Element, Timestamp) -> PostgresStatement
    ) throws(LedgerError) -> [Bool] {
        guard !elements.isEmpty else { return [] }
        let order = elements.indices.sorted { key(elements[$0]) < key(elements[$1]) }
        return try write { (now) throws(PostgresFailure) in
            let results = try connection.run(order.map { statement(elements[$0], now) })
            var flags = Array(repeating: false, count: elements.count)
            for (place, result) in zip(order, results) { flags[place] = result.affected > 0 }
            return flags
        }
    }

    /// - Parameter keeps: Whether the block's result is worth its commit; else nothing of the transaction stays.
    func transaction<Value>(
        _ begin: String, keeps: (Value) -> Bool = { _ in true },
        _ body: (Timestamp) throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> Value {
        do throws(PostgresFailure) {
            let askedAt = WallClock.milliseconds
            let results = try connection.run([PostgresStatement(begin), configuration.look])
            let value = try body(try present(results[1], askedAt: askedAt))
            try connection.run(PostgresStatement(keeps(value) ? "COMMIT" : "ROLLBACK"))
            return value
        } catch {
            try? connection.rollBack()
            throw error
        }
    }

    /// Runs a block again as long as its transaction was in another's way. For a lock that is held it waits once more,
    /// where the call has the time.
    func tried<Value>(_ body: () throws(PostgresFailure) -> Value) throws(PostgresFailure) -> Value {
        var tries = 1
        while true {
            do throws(PostgresFailure) {
                return try body()
            } catch {
                let (left, lock) = (connection.timeLeft, configuration.settings.lock)
                guard Self.isWorthAnotherTry(error, after: tries, left: left, lock: lock) else { throw error }
                tries += 1
            }
        }
    }

    /// - Parameters:
    ///   - left: Until the end of the call. A wait for a lock that met it would cost the connection, and with it every
    ///     partition, and its reason would be lost.
    ///   - lock: How long a statement waits for a lock.
    static func isWorthAnotherTry(
        _ failure: PostgresFailure, after tries: Int, left: Duration, lock: Duration
    ) -> Bool {
        failure.isWorthAnotherTry && tries < mostTries && (!failure.isLockHeld || left > lock * 2)
    }

    /// Asks where this session is, and for the time there. A standby gives none.
    static let look = PostgresStatement(
        """
        SELECT id, left(pg_walfile_name(pg_current_wal_lsn()), 8),
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        FROM ledger
        """)

    static let lookAnywhere = PostgresStatement(
        """
        SELECT id,
            CASE WHEN pg_is_in_recovery() THEN '\(LedgerPlace.standby)'
                ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        FROM ledger
        """)

    /// Whether this session reads from a standby, whose rows may be behind.
    public var isStandby: Bool { place.timeline == LedgerPlace.standby }

    /// The moment of ``look``'s reply.
    /// - Parameter askedAt: This host's clock before it.
    /// - Throws: `.lost` if this is another ``LedgerPlace`` than at the opening, or than that of the process's other
    ///   sessions, or none.
    func present(_ result: PostgresResult, askedAt: Int64) throws(PostgresFailure) -> Timestamp {
        guard let row = result.first else { throw .lost("the ledger has no id") }
        guard LedgerPlace(row) == place, configuration.mark.isPresent(place) else {
            throw .lost("another database, or a promoted standby, has taken this one's place")
        }
        let now = configuration.clock?() ?? row.time(2)
        // The server looked at its clock between the two moments here. A lead within these bounds stays, so that a slow
        // reply moves no clock.
        let (first, last) = (now.milliseconds - WallClock.milliseconds, now.milliseconds - askedAt)
        clockLead = min(max(clockLead, min(first, last)), max(first, last))
        return now
    }
}

extension LedgerPlace {
    /// As ``PostgresLedger/look`` finds it.
    init(_ row: PostgresRow) { self.init(id: row.text(0), timeline: row.text(1)) }
}
