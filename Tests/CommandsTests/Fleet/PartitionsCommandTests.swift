import CommandParser
import Ledger
import Testing

@testable import Commands

@Suite("grantor partitions")
struct PartitionsCommandTests {
    private var grantor: SampleRun

    init() throws {
        grantor = try SampleRun()
        grantor.environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = "kafka:9092"
        grantor.topics.ends = [5: 20_000, 6: 20_000]
    }

    private func pass(_ partition: Int, _ from: Int, _ through: Int, _ more: String...) -> SampleRun.Result {
        grantor.run(
            [
                "partitions", "pass", "--partition", "\(partition)", "--from", "\(from)", "--through", "\(through)",
                "--actor", "anna", "--reason", "damaged batch",
            ] + more)
    }

    @Test("list shows where each partition stands, and who reads it")
    func list() {
        #expect(
            grantor("partitions list").output
                == "PARTITION             NEXT  STARTS  OWNER\nreceipts.submitted/5  173   2       host/1\n")
        #expect(grantor("partitions list --json").output.contains("\"next\" : 173"))
    }

    @Test("pass names what is passed and where reading goes on")
    func passes() {
        let result = pass(5, 173, 175)
        #expect(
            result.output
                == "3 offsets of receipts.submitted/5 passed, and owed to the quarantine topic; "
                + "workers read on at 176.\n")
        #expect(
            grantor.ledger.questions
                == ["pass receipts.submitted/5, offsets 173 to 175: damaged batch by anna"])
        #expect(pass(5, 173, 173, "--json").output.contains("\"next\" : 174"))
    }

    @Test("pass changes nothing unless the partition stands at the first offset")
    func confirmed() {
        let behind = pass(5, 170, 175)
        #expect(behind.status == .failed)
        #expect(
            behind.errors
                == "grantor: receipts.submitted/5 stands at offset 173, not at 170; nothing was changed\n")
        #expect(pass(6, 173, 175).errors.contains("has no checkpoint of receipts.submitted/6"))
    }

    @Test("pass without an answer may have passed them, and the next call says whether it has")
    func lostAnswer() {
        #expect(
            pass(5, 170, 172).errors
                == "grantor: receipts.submitted/5 stands at offset 173: these offsets are passed already; nothing was "
                + "changed\n")
        grantor.ledger.refuseChanges(.disconnected(detail: "gone"))
        #expect(
            pass(5, 173, 175).errors
                == "grantor: the ledger has not confirmed it: it may be done or not; look before you call again: gone\n"
        )
    }

    @Test("pass refuses offsets that no record has: it would pass submissions that are still to come")
    mutating func behindEnd() {
        grantor.topics.ends = [5: 176]
        #expect(
            pass(5, 173, 176).errors
                == "grantor: receipts.submitted/5 ends at offset 176, so --through must be below it; "
                + "nothing was changed\n")
        #expect(
            pass(7, 173, 175).errors == "grantor: Kafka has no partition receipts.submitted/7; nothing was changed\n")
        #expect(grantor.ledger.questions.isEmpty)
        #expect(pass(5, 173, 175).status == .done)
    }

    @Test("pass changes nothing where Kafka does not say where the partition ends")
    mutating func away() {
        grantor.topics.failure = FixedCluster.away
        let result = pass(5, 173, 175)
        #expect(result.status == .failed)
        #expect(result.errors.contains("Kafka does not say where receipts.submitted/5 ends: "))
        #expect(grantor.ledger.questions.isEmpty)
    }

    @Test("pass takes so many offsets at once and no more", arguments: [(173, 172), (173, 10_173)])
    func bounded(from: Int, through: Int) {
        let result = pass(5, from, through)
        #expect(result.status == .usage)
        #expect(grantor.ledger.questions.isEmpty)
    }
}
