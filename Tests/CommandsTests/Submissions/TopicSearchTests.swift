import CommandParser
import Contract
import Kafka
import Testing

@testable import Commands

@Suite("A look for a word on the topics, where the ledger has nothing of it")
struct TopicSearchTests {
    private func grantor(_ input: FixedInput) throws -> SampleRun {
        var grantor = try SampleRun()
        grantor.environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = "kafka:9092"
        grantor.input = input
        return grantor
    }

    private func search(_ word: String, in values: [String]) throws -> TopicSearch {
        try TopicSearch(
            word, limit: 50, next: [:], input: FixedInput(values: values), quarantine: FixedQuarantine())
    }

    private let submitted = [#"{"submissionId":"s-1","userId":"other"}"#, #"{"submissionId":"gone","userId":"u"}"#]

    @Test("A record that workers are not through with is told with its place and what comes before it")
    func unfinished() throws {
        let result = try grantor(FixedInput(values: submitted))("find gone")
        #expect(
            result.output
                == """
                gone  not decided yet
                  It was submitted. A worker has not read it yet, or verifies it now. Before it 1 record of its partition waits. Ask again in a minute. If it still stands here, see grantor workers list and the worker's log. Tell the player: "We are still asking Apple about this purchase. If you were charged, please restore purchases."
                  found on receipts.submitted/5/174, at 2023-11-14T22:13:20.000Z

                """)
        #expect(result.status == .done && result.errors.isEmpty)
    }

    @Test("A quarantined record is told with its reason, and how to see it")
    func quarantined() throws {
        let text = try search("u-1", in: []).text("u-1", width: nil)
        #expect(text.hasPrefix("u-1  quarantined: no JSON\n  It was submitted, and no worker can read it: "))
        #expect(text.contains("grantor quarantine show 1/40 shows the record."))
        #expect(text.contains("found on receipts.quarantined/1/40, came as receipts.submitted/5/173, at 2023-11-14"))
    }

    @Test("A record that stands on both topics is a quarantined one")
    func both() throws {
        let hits = try TopicSearch(
            "u-1", limit: 50, next: [FixedLedger.origin.topicPartition: 173],
            input: FixedInput(values: ["u-1", "u-1"]), quarantine: FixedQuarantine()
        ).hits
        #expect(Set(hits.map(\.place.topic)) == ["receipts.submitted", "receipts.quarantined"])
        #expect(hits.filter { $0.place.topic == "receipts.submitted" }.map(\.place.offset) == [174])
    }

    @Test("As JSON the records stand beside what the ledger has, which is nothing")
    func json() throws {
        let output = try grantor(FixedInput(values: submitted))("find gone --json").output
        #expect(output.contains("\"found\" : [\n\n  ]"))
        #expect(output.contains("\"record\" : \"receipts.submitted/5/174\",\n      \"recordsBefore\" : 1,"))
    }

    @Test(
        "A word stands in a record as a whole word, or is its key",
        arguments: [
            ("u-7", #"{"userId":"u-7"}"#, true), ("u-7", "u-7", true), ("u-7", "not json: u-7;", true),
            ("u-7", "u-77 u-7", true), ("u-7", #"{"userId":"u-77"}"#, false), ("u-7", "xu-7", false),
            ("7", #"{"evidence":"ab/7+c="}"#, false), ("7", "1.7.2", false), ("é", "éé", false), ("key-0", "", true),
            ("", "anything", false),
        ])
    func words(word: String, value: String, isFound: Bool) throws {
        #expect(try search(word, in: [value]).hits.isEmpty != isFound)
    }

    @Test("Where nothing is found, it is said how much was looked at")
    func nothing() throws {
        let result = try grantor(FixedInput(values: submitted))("find nobody")
        #expect(result.status == .failed && result.output.isEmpty)
        #expect(
            result.errors
                == "grantor: nothing in the ledger has the id \"nobody\", nor one of the 2 records that workers are not through with, nor one of the 2 latest quarantined ones: it was never submitted, or under another id\n"
        )
        let more = try grantor(FixedInput(values: submitted, more: 5))("find nobody")
        #expect(more.errors.contains("nor the first 2 of 7 records that workers are not through with, "))
        #expect(more.errors.hasSuffix(": it may stand further behind, or was never submitted\n"))
    }

    @Test("Where Kafka does not answer, the command says so, and what may be")
    func away() throws {
        let result = try grantor(FixedInput(failure: FixedCluster.away))("find nobody")
        #expect(result.status == .failed)
        #expect(result.errors.contains("\(SubmissionWords.ofUnknown). The topics cannot be looked through: "))
        let unset = try SampleRun()("find nobody")
        #expect(unset.status == .failed && unset.errors.contains("GRANTOR_KAFKA_BOOTSTRAP_SERVERS"))
    }
}
