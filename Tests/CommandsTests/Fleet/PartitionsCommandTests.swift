import CommandParser
import Testing

@testable import Commands

@Suite("grantor partitions")
struct PartitionsCommandTests {
    private let grantor: SampleRun

    init() throws { grantor = try SampleRun() }

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

    @Test("pass takes so many offsets at once and no more", arguments: [(173, 172), (173, 10_173)])
    func bounded(from: Int, through: Int) {
        let result = pass(5, from, through)
        #expect(result.status == .usage)
        #expect(grantor.ledger.questions.isEmpty)
    }
}
