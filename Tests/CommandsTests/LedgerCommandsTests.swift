import Testing

@testable import Commands

@Suite("Commands about the ledger as a whole")
struct LedgerCommandsTests {
    private let grantor: SampleRun

    init() throws { grantor = try SampleRun() }

    @Test("A migration says which ledger it made or brought up to date")
    func migrate() {
        let ledger = "sqlite:\(grantor.folder)/grantor.db"
        #expect(grantor("migrate").output == "The ledger \(ledger) is made, with version 2 of its schema.\n")
        #expect(grantor("migrate").output == "The schema of \(ledger) is up to date.\n")
        #expect(
            grantor("migrate --json").output
                == "{\n  \"from\" : 2,\n  \"ledger\" : \"\(ledger)\",\n  \"migrated\" : false,\n  \"to\" : 2\n}\n")
    }

    @Test("A ledger is accepted by its id, with who did it and why")
    func accept() {
        let result = grantor.run([
            "ledger", "accept", FixedLedger.id, "--actor", "anna", "--reason", "moved on purpose",
        ])
        #expect(result.output == "The ledger \(FixedLedger.id) is accepted; workers start with it from now on.\n")
        #expect(
            grantor.ledger.questions
                == ["accept \(FixedLedger.id) by anna: moved on purpose at 2023-11-14T22:13:20.000Z"])
    }

    @Test("Another ledger's id is refused with the id of the configured one")
    func refuse() {
        let result = grantor("ledger accept other --actor anna --reason moved")
        #expect(result.output.isEmpty)
        #expect(
            result.errors
                == "grantor: the configured ledger is \(FixedLedger.id), which is another one; nothing was changed\n")
    }
}
