public import Contract
public import Ledger

/// One connection to the embedded ledger of one worker: a SQLite file in write-ahead mode. Every commit is synced.
///
/// A worker ``claim(_:creating:)``s the file first; operators' commands work beside it.
/// Every call is one transaction. Writing calls take the write lock at their start, so that their reads stay valid
/// until they write. They wait at most the configuration's busy timeout for it. After each call the file is looked up
/// by its path. If it was deleted or replaced, the call ends with `.disconnected`, whatever it had written.
public final class SQLiteLedger: LedgerConnection {
    let database: Database
    let clock: @Sendable () -> Timestamp

    /// Makes a ledger where there is none, or brings an older one up to date. May be called again.
    /// - Returns: The versions of the schema before and after; 0 where there was no ledger.
    /// - Throws: `.unusable` if no file can be at the path, if the file is no ledger, or if it is a newer one. The
    ///   error is `.unavailable` if another process works for it or keeps it locked, or if the disk is full.
    @discardableResult
    public static func migrate(
        _ configuration: SQLiteLedgerConfiguration
    ) throws(LedgerError) -> (from: Int, to: Int) {
        try SQLiteOpening(configuration: configuration).migrate()
    }

    /// Takes the right to be the file's one worker, for the rest of the process's life. Every path to the file counts.
    /// Call it before this process opens the file.
    /// - Parameter creating: Whether an empty file is made where there is none.
    /// - Returns: Words for the process that has the right, such as "process 4711"; nil if it is this one, or if there
    ///   is no file.
    /// - Throws: `.unusable` where this user can have no ledger; `.unavailable` if the file cannot be locked.
    public static func claim(
        _ configuration: SQLiteLedgerConfiguration, creating: Bool
    ) throws(LedgerError) -> String? {
        try SQLiteOpening(configuration: configuration).claim(creating: creating)
    }

    /// Whether anything is where the ledger should be.
    /// - Throws: `.unusable` where this user can have no ledger, such as in a folder that is not there.
    public static func exists(_ configuration: SQLiteLedgerConfiguration) throws(LedgerError) -> Bool {
        try SQLiteOpening(configuration: configuration).isThere()
    }

    /// Opens a ledger that ``migrate(_:)`` has made.
    /// - Throws: `.unusable` if there is no ledger, or one of a version that this program does not work with. The same
    ///   goes for a setting that SQLite does not take, and that promises rest on. The error is `.unavailable` if
    ///   another process keeps it locked.
    public init(_ configuration: SQLiteLedgerConfiguration) throws(LedgerError) {
        database = try SQLiteOpening(configuration: configuration).open()
        clock = configuration.clock
    }

    public func identity() throws(LedgerError) -> String {
        try read { (_) throws(StoreError) in try database.identity() }
    }

    public func bind(to group: ConsumerGroup) throws(LedgerError) -> ConsumerGroup {
        if let owner = try self.group() { return owner }
        return try write { (_) throws(StoreError) in try database.group.bind(to: group) }
    }

    /// The ledger's clock is the host's.
    public var clockLead: Int64 { 0 }

    // MARK: Partitions

    public func takeOver(_ requests: [TakeOver]) throws(LedgerError) -> [TakeOverResult] {
        try write { (_) throws(StoreError) in
            var results: [TakeOverResult] = []
            for request in requests {
                if let start = try database.partitions.takeOver(request) {
                    results.append(.taken(start))
                } else {
                    results.append(.forgotten(ledger: try database.identity()))
                }
            }
            return results
        }
    }

    public func checkpoint(_ checkpoints: [OffsetCheckpoint]) throws(LedgerError) -> [Bool] {
        try each(checkpoints) { (checkpoint, _) throws(StoreError) in
            try database.partitions.checkpoint(checkpoint)
        }
    }

    public func mark(_ marks: [CheckMark]) throws(LedgerError) -> [Bool] {
        try each(marks) { (mark, _) throws(StoreError) in try database.partitions.mark(mark) }
    }

    // MARK: Look-ups

    public func knownOutcomes(of origins: [Origin]) throws(LedgerError) -> [KnownOutcome] {
        guard !origins.isEmpty else { return [] }
        let outcomes = try read { (_) throws(StoreError) in
            let ranges = OriginRange.covering(origins)
            let grants = try database.grants.found(from: ranges)
            let answers = try database.answers.found(from: ranges)
            let waiting = try database.retries.waiting(from: ranges)
            let answering = try database.grants.holders(answers.answering)
            return KnownOutcomes(grants: grants, answers: answers, answering: answering, waiting: waiting)
        }
        // The ranges may have more offsets than were asked for.
        return outcomes.sorted(of: origins)
    }

    public func lookUp(_ questions: [GrantLookup]) throws(LedgerError) -> [GrantReference?] {
        try read { (_) throws(StoreError) in
            var found: [GrantReference?] = []
            for question in questions {
                let grants = try database.grants.found("grants.transaction_id = ?") {
                    $0.text(question.transactionID)
                }
                // A grant that only a later version can read gives no answer here: Apple is asked, and the write finds
                // the grant.
                found.append(grants.known.map(\.grant).first(where: question.isAnswered)?.reference)
            }
            return found
        }
    }

    // MARK: Leases

    public func takeDue(_ requests: [DueRequest], bytes: Int) throws(LedgerError) -> [DueRetry] {
        try write { (now) throws(StoreError) in
            if let suspect = try database.retries.takeSuspect(now: now) { return [suspect] }
            var left = bytes
            var taken: [DueRetry] = []
            for request in requests { taken += try database.retries.take(request, bytes: &left, now: now) }
            return taken
        }
    }

    public func renew(_ renewals: [LeaseRenewal]) throws(LedgerError) -> [Bool] {
        try each(renewals) { (renewal, now) throws(StoreError) in
            try database.retries.renew(renewal, now: now)
        }
    }

    public func giveBack(retries: [RetryLease], outbox: [OutboxLease]) throws(LedgerError) {
        try write { (now) throws(StoreError) in
            for lease in retries { try database.retries.giveBack(lease, now: now) }
            for lease in outbox { try database.outbox.giveBack(lease, now: now) }
        }
    }

    // MARK: Outbox

    public func owe(_ entries: [OutboxEntry]) throws(LedgerError) -> [Bool] {
        try each(entries) { (entry, now) throws(StoreError) in
            guard try database.partitions.isOwned(entry.ownership) else { return false }
            if let key = entry.key.failure, try !database.answers.hasFailure(key) { return false }
            try database.outbox.insert(NewOutboxRow(entry), now: now)
            return true
        }
    }

    public func takeOutbox(_ requests: [OutboxRequest]) throws(LedgerError) -> [OutboxItem] {
        try write { (now) throws(StoreError) in
            var taken: [OutboxItem] = []
            for request in requests { taken += try database.outbox.take(request, now: now) }
            return taken
        }
    }

    public func report(_ reports: [OutboxReport]) throws(LedgerError) {
        try write { (now) throws(StoreError) in
            for report in reports { try database.outbox.report(report, now: now) }
        }
    }

    public func measure(as worker: WorkerSign) throws(LedgerError) -> LedgerMeasure {
        let workers = try write { (now) throws(StoreError) in try database.workers.sign(of: worker, now: now) }
        let (measure, isAhead) = try read { (now) throws(StoreError) in
            let waiting = try database.retries.waiting()
            let outbox = try database.outbox.size(now: now)
            let measure = LedgerMeasure(
                retries: try database.retries.sizes(), waiting: waiting.byEndpoint, held: try database.retries.held(),
                calls: try database.outbox.calls(), outboxRows: outbox.rows, outboxAge: outbox.age,
                later: waiting.later + outbox.later, workers: workers,
                takenAt: now)
            let last = max(waiting.last ?? .min, outbox.last ?? .min)
            return (measure, last > Self.latest(now).milliseconds)
        }
        guard isAhead else { return measure }
        try write { (now) throws(StoreError) in
            try database.retries.cap(at: Self.latest(now))
            try database.outbox.cap(at: Self.latest(now))
        }
        return measure
    }

    public func signOff(_ worker: WorkerSign) throws(LedgerError) {
        try write { (_) throws(StoreError) in try database.workers.forget(worker) }
    }

    /// No row waits for longer, unless a clock was ahead.
    private static func latest(_ now: Timestamp) -> Timestamp {
        now.advanced(by: .milliseconds(longestDelayMilliseconds))
    }

    // MARK: Transactions

    /// Runs a block in one transaction with the write lock, at one moment of the ledger's clock.
    /// - Parameter keeps: Whether the block's result is worth its commit; else nothing of the transaction stays.
    func write<Value>(
        keeps: (Value) -> Bool = { _ in true }, _ body: (Timestamp) throws(StoreError) -> Value
    ) throws(LedgerError) -> Value {
        try call { () throws(StoreError) in
            try database.write(keeps: keeps) { () throws(StoreError) in try body(clock()) }
        }
    }

    func read<Value>(_ body: (Timestamp) throws(StoreError) -> Value) throws(LedgerError) -> Value {
        try call { () throws(StoreError) in try database.read { () throws(StoreError) in try body(clock()) } }
    }

    func call<Value>(_ body: () throws(StoreError) -> Value) throws(LedgerError) -> Value {
        do throws(StoreError) { return try body() } catch { throw error.error(at: database.path) }
    }

    private func each<Element>(
        _ elements: [Element], _ body: (Element, Timestamp) throws(StoreError) -> Bool
    ) throws(LedgerError) -> [Bool] {
        guard !elements.isEmpty else { return [] }
        return try write { (now) throws(StoreError) in
            var results: [Bool] = []
            for element in elements { results.append(try body(element, now)) }
            return results
        }
    }
}
