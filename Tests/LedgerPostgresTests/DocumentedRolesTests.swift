import Contract
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite("Roles of the documentation")
struct DocumentedRolesTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    @Test("The roles of the documentation may do what they have to, and no worker may take a grant back")
    func roles() throws {
        try PostgresLedger.migrate(database.configuration())
        try database.makeRoles()
        defer { database.removeRoles() }
        func ledger(_ role: String) throws -> PostgresLedger {
            var configuration = try PostgresLedgerConfiguration(
                url: database.server.url(database: database.database, user: database.role(role)))
            configuration.settings.demandsFsync = false
            let clock = database.clock
            configuration.clock = { clock.now }
            configuration.sampleMilliseconds = 0
            return try PostgresLedger(configuration)
        }
        let worker = ConformanceSubject(
            ledger: try ledger("worker"), other: try ledger("worker"), setClock: { database.clock.set($0) })
        try worker.own()
        var play = RandomPlay(seed: 7, isWorker: true)
        for _ in 0..<200 { _ = try play.step(worker) }
        let note = OperatorNote(actor: "kim", reason: "Tried.", at: Samples.noon)
        let person = try ledger("operator")
        let key = Samples.submission("s1").claimant.submissionKey
        _ = try person.abandon(key, note)
        _ = try person.retryNow(key, note)
        #expect(try person.accept(ledger: person.identity(), for: Samples.group, [Samples.partition: 1], note))
        let reader = try ledger("reader")
        #expect(try reader.grants(GrantQuery()).count > 0)
        for state in SubmissionState.allCases { _ = try reader.submissions(SubmissionQuery(state: state)) }
        #expect(throws: PostgresFailure.self) {
            try (worker.ledger as? PostgresLedger)?.connection.run([PostgresStatement("DELETE FROM grants")])
        }
        guard
            case .unavailable(let detail) = ledgerError({
                _ = try reader.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(), next: 1)])
            })
        else {
            Issue.record("a reader writes")
            return
        }
        #expect(detail.contains("this user lacks a right"))
    }
}
