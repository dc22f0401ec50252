import Contract
import Dispatch
import Foundation
import Ledger
import PostgresTesting
import Synchronization
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

/// Work on a thread of its own, so that whoever waits for it does not keep it from running.
private final class Writing: Sendable {
    private let outcome = Mutex<Result<DecisionResult, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> DecisionResult) {
        Thread.detachNewThread {
            let result = Result { try body() }
            self.outcome.withLock { $0 = result }
            self.done.signal()
        }
    }

    func result() throws -> DecisionResult {
        done.wait()
        guard let result = outcome.withLock({ $0 }) else { throw Violation(description: "no result") }
        return try result.get()
    }
}

/// Two sessions inside one write. The other session holds what the write needs until it is seen to wait.
@Suite struct RaceTests {
    private let database: TemporaryLedger
    private let configuration: PostgresLedgerConfiguration
    /// A session that leaves transactions open.
    private let other: PostgresConnection

    init() throws {
        database = try TemporaryLedger()
        configuration = try database.configuration()
        try PostgresLedger.migrate(configuration)
        other = try PostgresConnection(configuration.options, configuration.settings)
        try database.subject().own()
    }

    /// Writes one decision while the other session has done something that it does not commit before the write waits
    /// for it.
    private func write(_ decision: Decision, while statements: String..., then end: String) throws -> DecisionResult {
        try other.run([PostgresStatement("BEGIN")] + statements.map { PostgresStatement($0) })
        let configuration = configuration
        let writing = Writing { try PostgresLedger(configuration).write([decision])[0] }
        try waitForWait()
        try other.run([PostgresStatement(end)])
        return try writing.result()
    }

    /// Returns once a session of this database waits for another one's lock.
    private func waitForWait() throws {
        let waits = PostgresStatement(
            """
            SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                AND pg_sleep(0.01) IS NOT NULL
            """)
        let observer = try PostgresConnection(configuration.options, configuration.settings)
        for _ in 0..<100_000 {
            if try observer.run(waits).rowCount > 0 { return }
        }
        throw Violation(description: "nobody waits")
    }

    private var ledger: PostgresLedger { get throws { try PostgresLedger(configuration) } }

    @Test("Workers that claim the same purchases at once grant each once, whatever form their writes have")
    func claims() async throws {
        defer { database.remove() }
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

    @Test(
        "A take-over waits for no write, and a write that waited for one counts for nothing", arguments: [false, true])
    func takenOver(isPlain: Bool) throws {
        defer { database.remove() }
        let decision = Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: !isPlain)
        let result = try write(
            decision, while: "SELECT 1 FROM partitions FOR UPDATE", "UPDATE partitions SET generation = 2",
            then: "COMMIT")
        #expect(result == .notOwned)
        #expect(try ledger.grants(GrantQuery()).isEmpty)
    }

    @Test("A note of offsets holds no write up")
    func noted() throws {
        defer { database.remove() }
        try other.run([PostgresStatement("BEGIN"), PostgresStatement("UPDATE partitions SET next_offset = 5")])
        let decision = Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true)
        #expect(try ledger.write([decision])[0].outcome == .granted(created: 1))
    }

    @Test("A purchase that another session grants meanwhile is its user's", arguments: [false, true])
    func granted(isPlain: Bool) throws {
        defer { database.remove() }
        let rival = Samples.grant(Samples.submission("s2", user: "player-2"), Samples.purchase("1"))
        #expect(try ledger.write([rival])[0].outcome == .granted(created: 1))
        try other.run([PostgresStatement("CREATE TABLE copies AS SELECT * FROM grants")])
        try other.run([PostgresStatement("DELETE FROM grants")])
        let decision = Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: !isPlain)
        let result = try write(
            decision, while: "INSERT INTO grants OVERRIDING SYSTEM VALUE SELECT * FROM copies", then: "COMMIT")
        #expect(result.outcome == .failed(reason: "owned_by_another_user"))
        #expect(try ledger.grants(GrantQuery()).map(\.grant.userID) == ["player-2"])
    }

    @Test("A purchase whose grant by another session is rolled back is granted")
    func rolledBack() throws {
        defer { database.remove() }
        let rival = Samples.grant(Samples.submission("s2", user: "player-2"), Samples.purchase("1"))
        _ = try ledger.write([rival])
        try other.run([PostgresStatement("CREATE TABLE copies AS SELECT * FROM grants")])
        try other.run([PostgresStatement("DELETE FROM grants")])
        let result = try write(
            Samples.grant(Samples.submission("s1"), Samples.purchase("1")),
            while: "INSERT INTO grants OVERRIDING SYSTEM VALUE SELECT * FROM copies", then: "ROLLBACK")
        #expect(result.outcome == .granted(created: 1))
    }

    @Test("An answer that another session gives meanwhile stands, and its bytes are the ones that are told")
    func answered() throws {
        defer { database.remove() }
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

    @Test("A failure beside a grant of one submission hides no grant: whoever reads the grant finds it")
    func failedBesideGranted() throws {
        defer { database.remove() }
        // The grant is not committed when the failure looks for it, and no key is common to both.
        let submission = Samples.submission("s1")
        let grant = Samples.grant(submission, Samples.purchase("1"))
        _ = try ledger.write([grant])
        try other.run([PostgresStatement("CREATE TABLE copies AS SELECT * FROM grants")])
        try other.run([PostgresStatement("DELETE FROM grants")])
        try other.run([
            PostgresStatement("BEGIN"),
            PostgresStatement("INSERT INTO grants OVERRIDING SYSTEM VALUE SELECT * FROM copies"),
        ])
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
        defer { database.remove() }
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

    @Test("Writes in a deadlock are tried again, and both count")
    func deadlock() async throws {
        defer { database.remove() }
        let configuration = configuration
        // Each round two sessions grant two purchases that block each other in the other order.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<2 {
                group.addTask {
                    let ledger = try PostgresLedger(configuration)
                    for round in 0..<100 {
                        let numbers = worker == 0 ? [2 * round, 2 * round + 1] : [2 * round + 1, 2 * round]
                        for number in numbers {
                            let id = SubmissionID("s\(number)")
                            _ = try ledger.write([Samples.fail(Samples.submission(id, offset: Int64(number)))])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try ledger.submissions(SubmissionQuery(state: .failed, limit: 1_000)).count == 200)
    }

    @Test("Two sessions that take due rows at once take different ones, and no number comes twice")
    func leases() async throws {
        defer { database.remove() }
        for number in 0..<60 {
            let submission = Samples.submission(SubmissionID("s\(number)"), offset: Int64(number))
            _ = try ledger.write([Samples.wait(submission, delay: 0)])
        }
        let configuration = configuration
        let leases = try await withThrowingTaskGroup(of: [RetryLease].self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let ledger = try PostgresLedger(configuration)
                    var taken: [RetryLease] = []
                    for _ in 0..<10 {
                        taken += try ledger.takeDue([DueRequest(endpoint: Samples.endpoint, limit: 4)], bytes: .max)
                            .map(\.lease)
                    }
                    return taken
                }
            }
            return try await group.reduce([], +)
        }
        #expect(Set(leases.map(\.key)).count == leases.count)
        #expect(Set(leases.map(\.number)).count == leases.count)
        #expect(leases.count == 60)
    }
}
