import Contract
import Ledger
import PostgresTesting
import Testing

@testable import LedgerConformance
@testable import LedgerPostgres

@Suite("Numbers that the database gives")
struct NumberTests {
    private let database: TemporaryLedger

    init() throws { database = try TemporaryLedger() }

    @Test("A number that is given again drops no row in silence", arguments: [false, true])
    func numbers(isGrant: Bool) throws {
        let subject = try database.subject()
        try subject.own()
        // One number or two that came again are passed by further tries.
        let decisions = (1...30).map(String.init).map { (id: String) in
            let submission = Samples.submission(SubmissionID(id))
            return isGrant ? Samples.grant(submission, Samples.purchase(TransactionID(id))) : Samples.wait(submission)
        }
        for decision in decisions.dropLast() { try subject.write(decision) }
        let table = isGrant ? "grants" : "retries"
        try database.server.run(
            "SELECT setval(pg_get_serial_sequence('\(table)', 'sequence'), 1, false)", database: database.database)
        guard case .unusable = ledgerError({ try subject.write(decisions[29]) }) else {
            Issue.record("nobody is told")
            return
        }
    }

    @Test("A sequence that is behind its table ends an import: no line counts that is not in the ledger")
    func importedNumbers() throws {
        let subject = try database.subject()
        func grants(_ lines: ClosedRange<Int>) -> [Grant] {
            lines.map { Samples.imported(TransactionID("\($0)"), line: $0) }
        }
        _ = try subject.ledger.add(imported: grants(1...30), isTrial: false)
        try database.server.run(
            "SELECT setval(pg_get_serial_sequence('grants', 'sequence'), 1, false)", database: database.database)
        guard case .unusable = ledgerError({ _ = try subject.ledger.add(imported: grants(31...33), isTrial: false) })
        else {
            Issue.record("nobody is told")
            return
        }
        #expect(try subject.grantRows().count == 30)
    }

    @Test("A take-over uses up a number only for a partition that has none")
    func partitionNumbers() throws {
        let subject = try database.subject()
        for generation in 1...5 { try subject.own(Int64(generation)) }
        let next = PartitionOwnership(
            partition: TopicPartition(topic: "receipts.submitted", partition: 9), generation: Generation(rawValue: 1))
        _ = try subject.ledger.takeOver([TakeOver(ownership: next, owner: "worker", committed: nil)])
        #expect(try database.server.run("SELECT max(number) FROM partitions", database: database.database) == "2")
    }

    @Test("A write for a partition that nobody has taken over makes none known")
    func unknownPartition() throws {
        let subject = try database.subject()
        let failed = Samples.fail(Samples.submission("s1"))
        #expect(try subject.ledger.write([failed]) == [.notOwned])
        #expect(try database.server.run("SELECT count(*) FROM partitions", database: database.database) == "0")
    }
}
