import Contract
import Ledger
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

extension RaceTests {
    @Test("A result of a row that another session is taking counts for nothing")
    func takenMeanwhile() throws {
        let submission = Samples.submission("s1")
        _ = try ledger.write([Samples.wait(submission, delay: 0)])
        let due = try ledger.takeDue([DueRequest(endpoint: Samples.endpoint, limit: 1)], bytes: .max)
        let lease = try #require(due.first?.lease)
        let result = try write(
            Samples.grant(submission, Samples.purchase("1"), lease: lease),
            while: "UPDATE retries SET lease = nextval('lease_numbers')", then: "COMMIT")
        #expect(result == .notOwned)
        #expect(try ledger.grants(GrantQuery()).isEmpty)
    }

    @Test("A submission that a worker takes while it is given up stays the worker's")
    func takenWhileGivenUp() throws {
        let submission = Samples.submission("s1")
        _ = try ledger.write([Samples.hold(submission, "1")])
        let key = submission.claimant.submissionKey
        let note = OperatorNote(actor: "kim", reason: "Old.", at: Samples.noon)
        let taking = """
            UPDATE retries SET lease = nextval('lease_numbers'), takings = takings + 1, leased_until = 9000000000000,
                due_at = 9000000000000
            """
        let outcomes = try call(while: [taking], then: "COMMIT") { try $0.abandon(key, note) { !$0.isLeased } }
        #expect(outcomes == nil)
        #expect(try ledger.submission(key).waiting.map(\.isLeased) == [true])
        #expect(try ledger.actions(on: key).isEmpty)
    }

    @Test("Rows that another session is about to take are left to it, and nobody waits for them")
    func skipped() throws {
        // Nothing waits here, so the limit ends only what must not be.
        var configuration = configuration
        configuration.settings.lock = .milliseconds(100)
        let ledger = try PostgresLedger(configuration)
        for number in 1...2 as ClosedRange<Int64> {
            let submission = Samples.submission(SubmissionID("s\(number)"), offset: number)
            _ = try ledger.write([Samples.wait(submission, delay: 0)])
            _ = try ledger.write([
                Samples.grant(
                    Samples.submission(SubmissionID("g\(number)"), offset: 2 + number),
                    Samples.purchase(TransactionID("\(number)")), owesCall: true)
            ])
        }
        try other.run(all: "BEGIN", Self.locking("retries"), Self.locking("outbox"))
        let due = try ledger.takeDue([DueRequest(endpoint: Samples.endpoint, limit: 1)], bytes: .max)
        #expect(due.map(\.submission.id) == ["s2"])
        let owed = try ledger.takeOutbox([OutboxRequest(target: .service(Samples.app), limit: 1)])
        #expect(owed.map(\.lease.key) == [.granted(Samples.reference("2"), repeatOf: nil)])
        try other.rollBack()
    }

    private static func locking(_ table: String) -> String {
        "SELECT 1 FROM \(table) ORDER BY sequence LIMIT 1 FOR UPDATE"
    }

    @Test(
        "A worker that comes to a new ledger beside another one knows whose it is",
        arguments: [("COMMIT", "another"), ("ROLLBACK", "grantor")])
    func bound(end: String, owner: String) throws {
        let rival = "INSERT INTO consumer_group (one, name, topics) VALUES (1, 'another', 'a,b,c,d')"
        let found = try call(while: [rival], then: end) { try $0.bind(to: Samples.group) }
        #expect(found.name == owner)
        #expect(try ledger.group() == found)
    }

    @Test("Two sessions that take due rows at once take different ones, and no number comes twice")
    func leases() async throws {
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
