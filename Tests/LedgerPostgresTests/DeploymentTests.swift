import Contract
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite("SQL files of the deployment")
struct DeploymentTests {
    private static let note = OperatorNote(actor: "kim", reason: "asked", at: Samples.noon)

    @Test("They give workers and operators what the page gives them", arguments: ["worker", "operator"])
    func rights(of word: String) throws {
        let ledger = try TemporaryLedger()
        try ledger.withRoles {
            let granted =
                "SELECT string_agg(table_name || privilege_type, ' ' ORDER BY 1) "
                + "FROM (SELECT table_name, privilege_type FROM information_schema.role_table_grants "
                + "WHERE grantee = '\(ledger.role(word))' ORDER BY 1, 2) AS given (table_name, privilege_type)"
            let url = ledger.server.url(database: ledger.database)
            let connection = try PostgresConnection(PostgresOptions(url: url), .forTests)
            let documented = try connection.text(granted)
            try ledger.giveDeployedRights()
            let given = try connection.text(granted)
            #expect(given != nil && given == documented)
        }
    }

    @Test("They let a worker start")
    func worker() throws {
        let ledger = try TemporaryLedger()
        try ledger.withRoles {
            try ledger.giveDeployedRights()
            let url = ledger.server.url(database: ledger.database, user: ledger.role("worker"))
            expect(start(url), "", ends: false)
        }
    }

    @Test("They let an operator do what each command writes, a worker none of it, and nobody change a grant")
    func operators() throws {
        let ledger = try TemporaryLedger()
        try ledger.withRoles {
            try ledger.giveDeployedRights()
            let (worker, people) = (try ledger.open(as: "worker"), try ledger.open(as: "operator"))
            let subject = ConformanceSubject(ledger: worker, other: people, setClock: { _ in })
            _ = try worker.bind(to: Samples.group)
            try subject.own()
            let waiting = Samples.submission("s1", offset: 1)
            let key = waiting.claimant.submissionKey
            try subject.write(
                Samples.wait(waiting), Samples.grant(Samples.submission("s2", offset: 2), Samples.purchase("2")))
            _ = try worker.checkpoint([OffsetCheckpoint(ownership: Samples.ownership(), next: 10)])
            #expect(throws: LedgerError.self) { try worker.retryNow(key, Self.note) }
            #expect(try people.retryNow(key, Self.note) == 1)
            #expect(try people.abandon(key, Self.note) == [.failed(reason: "abandoned_by_operator")])
            let passed = try #require(PassedOffsets(partition: Samples.partition, offsets: 10...12))
            #expect(try people.pass(passed, Self.note) == .passed)
            #expect(try people.repair([.event(.granted(Samples.reference("2"), repeatOf: nil))], Self.note) == 1)
            #expect(try people.add(imported: [Samples.importedRow], isTrial: false) == [.new])
            #expect(try people.prune(0...(.max), before: Samples.noon, isTrial: false) == 0)
            try people.note(.republish, Self.note)
            let elsewhere = ConsumerGroup(name: "another", cluster: nil) { "others.\($0)" }
            #expect(try people.accept(ledger: people.identity(), for: elsewhere, [Samples.partition: 7], Self.note))
            #expect(try people.actions(on: key).map(\.kind) == [.retry, .abandon])
            #expect(try people.actions(on: nil).map(\.kind) == [.pass, .repair, .republish, .accept])
            for changing in ["UPDATE grants SET transaction_id = '2'", "DELETE FROM grants"] {
                #expect(throws: PostgresFailure.self) { try people.connection.run(PostgresStatement(changing)) }
            }
        }
    }
}
