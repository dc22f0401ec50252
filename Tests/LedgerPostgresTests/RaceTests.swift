import Contract
import Dispatch
import Foundation
import Ledger
import PostgresTesting
import Synchronization
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

/// Work on a thread of its own, so that a waiter does not keep it from running.
final class Working<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread {
            let result = Result { try body() }
            self.outcome.withLock { $0 = result }
            self.done.signal()
        }
    }

    /// Work with a session. Nobody else uses it until the work has its result, which the compiler cannot see.
    convenience init<Session>(with session: Session, _ body: @escaping @Sendable (Session) throws -> Value) {
        nonisolated(unsafe) let session = session
        self.init { try body(session) }
    }

    var isDone: Bool { outcome.withLock { $0 != nil } }

    func result() throws -> Value {
        done.wait()
        guard let result = outcome.withLock({ $0 }) else { throw Violation(description: "no result") }
        return try result.get()
    }
}

/// Two sessions inside one write. The other session holds a lock that the write needs, until the write waits.
@Suite struct RaceTests {
    let database: TemporaryLedger
    let configuration: PostgresLedgerConfiguration
    /// A session that leaves transactions open.
    let other: PostgresConnection

    init() throws {
        database = try TemporaryLedger()
        configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        other = try PostgresConnection(configuration.options, configuration.settings)
        try database.subject().own()
    }

    /// Writes one decision while the other session holds uncommitted work. It commits once the write waits for it, or
    /// has ended without waiting.
    func write(_ decision: Decision, while statements: String..., then end: String) throws -> DecisionResult {
        try call(while: statements, then: end) { try $0.write([decision])[0] }
    }

    /// As ``write(_:while:then:)``, for any call.
    func call<Value: Sendable>(
        while statements: [String], then end: String, _ body: @escaping @Sendable (PostgresLedger) throws -> Value
    ) throws -> Value {
        let session = try session()
        try other.run([PostgresStatement("BEGIN")] + statements.map { PostgresStatement($0) })
        let working = Working(with: session, body)
        try waitForWait(of: working)
        try other.run([PostgresStatement(end)])
        return try working.result()
    }

    /// A session that has seen the product of all samples committed: only such a one writes on the fast path. Nothing
    /// of it but the product stays.
    func session() throws -> PostgresLedger {
        let session = try ledger
        let known = Samples.grant(Samples.submission("known", offset: 0), Samples.purchase("0"))
        #expect(try session.write([known])[0].outcome == .granted(created: 1))
        #expect(!session.knownProducts.isEmpty)
        try other.run("DELETE FROM grants WHERE transaction_id = '0'")
        return session
    }

    /// Returns once so many sessions of this database wait for another one's lock, or the work has ended.
    func waitForWait<Value>(of working: Working<Value>, sessions: Int = 1) throws {
        let waits = PostgresStatement(
            """
            SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                AND pg_sleep(0.01) IS NOT NULL
            """)
        let observer = try PostgresConnection(configuration.options, configuration.settings)
        for _ in 0..<100_000 {
            if try working.isDone || observer.run(waits).rowCount >= sessions { return }
        }
        throw Violation(description: "nobody waits")
    }

    /// Takes all rows of `grants` out, and keeps copies for another session to put in.
    func takeGrantsOut() throws {
        try other.script("CREATE TABLE copies AS SELECT * FROM grants; DELETE FROM grants")
    }

    static func puttingIn(_ condition: String = "TRUE") -> String {
        "INSERT INTO grants OVERRIDING SYSTEM VALUE SELECT * FROM copies WHERE \(condition)"
    }

    var ledger: PostgresLedger { get throws { try PostgresLedger(configuration) } }

    @Test("Workers that claim the same purchases at once grant each once, whatever form their writes have")
    func claims() async throws {
        let configuration = configuration
        let created = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<4 {
                group.addTask { try Race.claim(try PostgresLedger(configuration), worker: worker) }
            }
            return try await group.reduce(0, +)
        }
        #expect(created == Race.purchases)
        let rows = try ledger.grants(GrantQuery(limit: 1_000))
        #expect(Set(rows.map(\.grant.transactionID)).count == Race.purchases)
        #expect(rows.count == Race.purchases)
    }

    @Test("A write that waited for a take-over of its partition counts for nothing", arguments: [false, true])
    func takenOver(isFast: Bool) throws {
        let decision = Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: !isFast)
        let result = try write(
            decision, while: "SELECT 1 FROM partitions FOR UPDATE", "UPDATE partitions SET generation = 2",
            then: "COMMIT")
        #expect(result == .notOwned)
        #expect(try ledger.grants(GrantQuery()).isEmpty)
    }

    @Test("A take-over waits for the writes under way, and knows of the records that they have written")
    func takesOver() throws {
        _ = try ledger.write([Samples.grant(Samples.submission("s1", offset: 7), Samples.purchase("1"))])
        try takeGrantsOut()
        let takeOver = TakeOver(ownership: Samples.ownership(2), owner: "worker", committed: nil)
        let result = try call(
            while: ["SELECT 1 FROM partitions FOR KEY SHARE", Self.puttingIn()], then: "COMMIT"
        ) { try $0.takeOver([takeOver])[0] }
        #expect(result == .taken(PartitionStart(next: nil, highestOrigin: 7, starts: 2, suspect: nil)))
    }

    /// A lock on the row's key that does not wait is not enough: by then the row has a newer version, with other locks.
    /// Only a take-over that changes a key is in its way.
    @Test("A statement that began before a take-over finds its partition's row taken, whatever happened to it since")
    func begunBefore() throws {
        let configuration = configuration
        func session() throws -> PostgresConnection {
            try PostgresConnection(configuration.options, configuration.settings)
        }
        let (late, holder) = (try session(), try session())
        try other.run("SELECT pg_advisory_lock(7)")
        let working = Working(with: late) {
            try $0.run(
                PostgresStatement(
                    """
                    SELECT owned.number FROM (SELECT pg_advisory_lock(7)) AS waited, LATERAL (
                        SELECT number FROM partitions WHERE generation = 1 FOR KEY SHARE OF partitions) AS owned
                    """)
            ).rowCount
        }
        try waitForWait(of: working)
        try other.run("UPDATE partitions SET next_offset = 5")
        try holder.run(all: "BEGIN", "SELECT 1 FROM partitions FOR KEY SHARE")
        let takeOver = TakeOver(ownership: Samples.ownership(2), owner: "worker", committed: nil)
        let taking = Working(with: try ledger) { try $0.takeOver([takeOver])[0] }
        try waitForWait(of: taking, sessions: 2)
        try holder.run("COMMIT")
        guard case .taken = try taking.result() else {
            Issue.record("not taken over")
            return
        }
        try other.run("SELECT pg_advisory_unlock(7)")
        #expect(try working.result() == 0)
    }

    @Test("A take-over waits for checkpoints of its topic, by which the ledger knows it")
    func topics() throws {
        let partition = TopicPartition(topic: Samples.partition.topic, partition: 4)
        let takeOver = TakeOver(
            ownership: PartitionOwnership(partition: partition, generation: Generation(rawValue: 2)), owner: "worker",
            committed: 9)
        let result = try call(while: ["UPDATE partitions SET next_offset = 5"], then: "COMMIT") {
            try $0.takeOver([takeOver])[0]
        }
        #expect(result == .taken(PartitionStart(next: nil, highestOrigin: nil, starts: 1, suspect: nil)))
    }

    @Test("What begins to wait for somebody else is not told by a worker that cannot see it yet")
    func pendingUnderWay() throws {
        let submission = Samples.submission("s1")
        _ = try ledger.write([Samples.wait(submission, delay: 0)])
        let entry = OutboxEntry(
            ownership: Samples.ownership(), key: .pending(ClaimDigest(of: submission)), delay: 0, stub: nil)
        #expect(try ledger.owe([entry]) == [true])
        try other.run("BEGIN")
        try other.run(OutboxTable.insertion([NewOutboxRow(entry)], now: Samples.later(1)))
        let request = OutboxRequest(target: .topic(.pending), limit: 9)
        #expect(try ledger.takeOutbox([request]).isEmpty, "it would tell of the row as it was")
        try other.run("COMMIT")
        #expect(try ledger.takeOutbox([request]).count == 1)
    }

    @Test("A submission whose event another session is about to owe is told anew once that one tells it")
    func pendingAdded() throws {
        let submission = Samples.submission("s1")
        _ = try ledger.write([Samples.wait(submission, delay: 0)])
        let entry = OutboxEntry(
            ownership: Samples.ownership(), key: .pending(ClaimDigest(of: submission)), delay: 0, stub: nil)
        _ = try ledger.owe([entry])
        let told = try ledger.takeOutbox([OutboxRequest(target: .topic(.pending), limit: 9)])
        try other.run(all: "CREATE TABLE copies AS SELECT * FROM outbox", "DELETE FROM outbox")
        // It comes leased, as if it were taken before this session goes on.
        let adding = "INSERT INTO outbox OVERRIDING SYSTEM VALUE SELECT * FROM copies"
        let owed = try call(while: [adding], then: "COMMIT") { try $0.owe([entry, entry]) }
        #expect(owed == [true, true])
        try ledger.report(told.map { .published($0.lease) })
        #expect(try ledger.outbox(limit: 9).map(\.isLeased) == [false], "the former state alone is told")
    }

    @Test("A checkpoint holds no write up")
    func checkpointed() throws {
        try other.run(all: "BEGIN", "UPDATE partitions SET next_offset = 5")
        let decision = Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true)
        #expect(try ledger.write([decision])[0].outcome == .granted(created: 1))
    }

    @Test("A purchase that another session grants meanwhile is its user's", arguments: [false, true])
    func granted(isFast: Bool) throws {
        let rival = Samples.grant(Samples.submission("s2", user: "player-2"), Samples.purchase("1"))
        #expect(try ledger.write([rival])[0].outcome == .granted(created: 1))
        try takeGrantsOut()
        let decision = Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: !isFast)
        let result = try write(decision, while: Self.puttingIn(), then: "COMMIT")
        #expect(result.outcome == .failed(reason: "owned_by_another_user"))
        #expect(try ledger.grants(GrantQuery()).map(\.grant.userID) == ["player-2"])
    }

    @Test("A purchase whose grant by another session is rolled back is granted")
    func rolledBack() throws {
        let rival = Samples.grant(Samples.submission("s2", user: "player-2"), Samples.purchase("1"))
        _ = try ledger.write([rival])
        try takeGrantsOut()
        let result = try write(
            Samples.grant(Samples.submission("s1"), Samples.purchase("1")),
            while: Self.puttingIn(), then: "ROLLBACK")
        #expect(result.outcome == .granted(created: 1))
    }

    @Test("An answer that another session gives meanwhile stands, and its bytes are the ones that are told")
    func answered() throws {
        let submission = Samples.submission("s1")
        let first = Samples.fail(submission, .unknownProduct, at: 1)
        let told = try ledger.write([first])[0].events
        try other.run([PostgresStatement("CREATE TABLE copies AS SELECT * FROM answers")])
        try other.run([PostgresStatement("DELETE FROM answers")])
        let second = Samples.fail(submission, .receiptNotAuthentic, at: 2)
        let result = try write(
            second, while: "INSERT INTO answers OVERRIDING SYSTEM VALUE SELECT * FROM copies", then: "COMMIT")
        #expect(result == .undecided)
        #expect(try ledger.write([second])[0].events == told)
    }

    @Test("A failure that another session puts in a repeat's place stays, and no other is told under its id")
    func replacedRepeat() throws {
        let owner = Samples.submission("s0")
        _ = try ledger.write([Samples.grant(owner, Samples.purchase("1"))])
        let repeated = Samples.submission("s1", offset: 8)
        _ = try ledger.write([Samples.grant(repeated, Samples.purchase("1"))])
        // Two users with content of their own under the id: each failure replaces the repeat of the first.
        let first = Samples.fail(Samples.submission("s1", user: "player-2", offset: 9), at: 1)
        let told = try ledger.write([first])[0].events
        _ = try ledger.write([Samples.grant(Samples.submission("s5", offset: 11), Samples.purchase("5"))])
        for sql in [
            "CREATE TABLE copies AS SELECT * FROM answers", "DELETE FROM answers",
            "CREATE TABLE taken AS SELECT * FROM grants WHERE transaction_id = '5'",
            "DELETE FROM grants WHERE transaction_id = '5'",
        ] { try other.run([PostgresStatement(sql)]) }
        _ = try ledger.write([Samples.grant(repeated, Samples.purchase("1"))])
        // Between its look at the answers and its own one the write waits for the other session's grant.
        try other.run([
            PostgresStatement("BEGIN"),
            PostgresStatement("INSERT INTO grants OVERRIDING SYSTEM VALUE SELECT * FROM taken"),
        ])
        let second = Samples.fail(
            Samples.submission("s1", user: "player-3", offset: 10, receipt: "b3RoZXI="), .unknownProduct, at: 2)
        let waiting = Samples.grant(Samples.submission("s9", offset: 12), Samples.purchase("5"), owesCall: true)
        let working = Working(with: try ledger) { try $0.write([second, waiting])[0] }
        try waitForWait(of: working)
        try other.run(
            ["DELETE FROM answers", "INSERT INTO answers OVERRIDING SYSTEM VALUE SELECT * FROM copies", "COMMIT"]
                .map { PostgresStatement($0) })
        #expect(try working.result() == .undecided)
        #expect(try ledger.write([first])[0].events == told)
    }

    @Test("A failure beside a grant of one submission hides no grant: whoever reads the grant finds it")
    func failedBesideGranted() throws {
        // The grant is not committed when the failure looks for it, and no key is common to both.
        let submission = Samples.submission("s1")
        let grant = Samples.grant(submission, Samples.purchase("1"))
        _ = try ledger.write([grant])
        try takeGrantsOut()
        try other.run(all: "BEGIN", Self.puttingIn())
        let failure = Samples.fail(submission)
        #expect(try ledger.write([failure])[0].outcome == .failed(reason: "receipt_not_authentic"))
        try other.run([PostgresStatement("COMMIT")])
        // Both records are read again, in either order: the grant counts.
        #expect(try ledger.knownOutcomes(of: [submission.origin]).map(\.kind) == [.granted])
        #expect(try ledger.write([grant])[0].outcome == .failed(reason: "receipt_not_authentic"))
        #expect(try ledger.submission(submission.claimant.submissionKey).grants.count == 1)
    }

    @Test("A submission that can be decided in part alone leaves nothing, and the rest of its batch is written")
    func withdrawn() throws {
        // A row that is refused, and that no statement finds.
        try other.script(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
            CREATE TRIGGER refusing BEFORE INSERT ON grants FOR EACH ROW WHEN (NEW.transaction_id = '2')
                EXECUTE FUNCTION refuse();
            REVOKE DELETE ON grants FROM PUBLIC;
            """)
        let results = try ledger.write([
            Samples.grant(Samples.submission("s1"), Samples.purchase("1"), Samples.purchase("2"), owesCall: true),
            Samples.grant(Samples.submission("s2"), Samples.purchase("3"), owesCall: true),
            Samples.fail(Samples.submission("s3")),
        ])
        #expect(results[0] == .undecided)
        #expect(results[1].outcome == .granted(created: 1))
        #expect(results[2].outcome == .failed(reason: "receipt_not_authentic"))
        #expect(try ledger.grants(GrantQuery()).map(\.grant.transactionID) == ["3"])
        #expect(try ledger.outbox(limit: 9).map(\.key) == [.granted(Samples.reference("3"), repeatOf: nil)])
    }

    /// Writes grants of the purchases 1, 2 and 3, and takes them out again.
    private func claims(isFast: Bool) throws -> [Decision] {
        let batch = (1...3).map { number in
            Samples.grant(
                Samples.submission(SubmissionID("s\(number)"), offset: Int64(number)),
                Samples.purchase(TransactionID("\(number)")), owesCall: !isFast)
        }
        _ = try ledger.write(batch)
        try takeGrantsOut()
        return batch
    }

    @Test("A write that a deadlock ended is tried again", arguments: [false, true])
    func deadlock(isFast: Bool) throws {
        let batch = try claims(isFast: isFast)
        // The session that looks for a deadlock and finds one is its victim. The other session never looks.
        try other.run("ALTER DATABASE \(database.database) SET deadlock_timeout = '1ms'")
        let session = try session()
        let third = try PostgresConnection(configuration.options, configuration.settings)
        try other.run("SET deadlock_timeout = '1h'")
        try other.run(all: "BEGIN", Self.puttingIn("transaction_id = '3'"))
        try third.run(all: "BEGIN", Self.puttingIn("transaction_id = '2'"))
        let writing = Working(with: session) { try $0.write(batch) }
        try waitForWait(of: writing)
        // Now the write holds 1, which the other session wants, and wants 3 next, which that one holds.
        let blocking = Working(with: other) { try $0.run(all: Self.puttingIn("transaction_id = '1'"), "ROLLBACK") }
        try waitForWait(of: blocking, sessions: 2)
        try third.run("ROLLBACK")
        try blocking.result()
        #expect(try writing.result().map(\.outcome) == Array(repeating: .granted(created: 1), count: 3))
    }

    @Test("Grants are locked in the order of their keys, in whatever order a batch has them", arguments: [false, true])
    func order(isFast: Bool) throws {
        let batch = try Array(claims(isFast: isFast).reversed())
        // A write that waits for 1 holds neither 2 nor 3, so the other session may have them as well.
        try other.run("ALTER DATABASE \(database.database) SET deadlock_timeout = '1h'")
        let session = try session()
        try other.run("SET deadlock_timeout = '1ms'")
        try other.run(all: "BEGIN", Self.puttingIn("transaction_id = '1'"))
        let writing = Working(with: session) { try $0.write(batch) }
        try waitForWait(of: writing)
        #expect(throws: Never.self) { try other.run(Self.puttingIn("transaction_id <> '1'")) }
        try other.rollBack()
        #expect(try writing.result().map(\.outcome) == Array(repeating: .granted(created: 1), count: 3))
    }
}
