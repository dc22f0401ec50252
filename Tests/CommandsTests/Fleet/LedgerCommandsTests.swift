import CommandParser
import Contract
import Ledger
import Testing

@testable import Commands

@Suite("Commands about the ledger as a whole")
struct LedgerCommandsTests {
    private var grantor: SampleRun

    init() throws {
        grantor = try SampleRun()
        grantor.environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = "kafka:9092"
    }

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
    mutating func accept() {
        grantor.cluster = .complete
        grantor.cluster.committed = [TopicPartition(topic: "receipts.submitted", partition: 3): 7]
        let result = grantor.run([
            "ledger", "accept", FixedLedger.id, "--actor", "anna", "--reason", "moved on purpose",
        ])
        #expect(
            result.output
                == "The ledger \(FixedLedger.id) is accepted; workers of the group grantor of the Kafka cluster cluster-1 "
                + "start with it from now on.\n")
        #expect(
            grantor.ledger.questions
                == [
                    "accept \(FixedLedger.id) for the group grantor of the Kafka cluster cluster-1 with "
                        + "receipts.submitted/3 at 7 by anna: moved on purpose at 2023-11-14T22:13:20.000Z"
                ])
    }

    @Test("The ledger of another group or cluster is accepted, although the group has read nothing")
    mutating func move() {
        grantor.cluster = .complete
        grantor.ledger = FixedLedger(owner: ConsumerGroup(name: "grantor", cluster: "cluster-0") { $0.defaultName })
        let words = ["ledger", "accept", FixedLedger.id, "--actor", "anna", "--reason", "moved"]
        #expect(grantor.run(words).status == .done)
        #expect(grantor.ledger.questions.count == 1)
        grantor.ledger = FixedLedger(owner: ConsumerGroup(name: "grantor", cluster: "cluster-1") { $0.defaultName })
        #expect(grantor.run(words).errors.contains("workers start with this ledger as it is"))
    }

    @Test("A ledger of other topics is accepted for those of these settings")
    mutating func topics() {
        grantor.cluster = .complete
        let owner = ConsumerGroup(name: "grantor", cluster: "cluster-1") { "former.\($0)" }
        grantor.ledger = FixedLedger(owner: owner)
        let words = ["ledger", "accept", FixedLedger.id, "--actor", "anna", "--reason", "renamed"]
        #expect(grantor.run(words).status == .done)
        #expect(grantor.ledger.questions.count == 1)
    }

    @Test("A ledger is not accepted where nobody says where reading is to begin")
    mutating func unknownOffsets() {
        let words = ["ledger", "accept", FixedLedger.id, "--actor", "anna", "--reason", "moved"]
        grantor.cluster = .complete
        let none = grantor.run(words)
        #expect(none.status == .failed)
        #expect(none.errors.contains("has no committed offsets: workers start with this ledger as it is"))
        grantor.cluster.failure = FixedCluster.away
        let away = grantor.run(words)
        #expect(away.status == .failed)
        #expect(away.errors.contains("Kafka does not say where the group is"))
        #expect(grantor.ledger.questions.isEmpty)
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
