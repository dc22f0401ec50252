import CommandParser
import Contract
import Kafka
import Testing

@testable import Commands

@Suite("A look for a word on the topics, for what the ledger does not have")
struct TopicSearchTests {
    private func grantor(_ input: FixedInput) throws -> SampleRun {
        var grantor = try SampleRun()
        grantor.environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = "kafka:9092"
        grantor.input = input
        return grantor
    }

    private func search(
        _ word: String, in values: [String], limit: Int = 50, next: [TopicPartition: Int64] = [:],
        quarantine: FixedQuarantine = FixedQuarantine()
    ) -> TopicSearch {
        TopicSearch(
            word, limit: limit, next: next, now: FixedLedger.time, input: FixedInput(values: values),
            quarantine: quarantine)
    }

    private func submission(_ members: String) -> String {
        #"{"submissionId":"s-9","userId":"u-9","bundleId":"com.example.game","transactionId":"2000000123"\#(members)}"#
    }

    private let submitted = [#"{"submissionId":"s-1","userId":"other"}"#, #"{"submissionId":"gone","userId":"u"}"#]

    @Test("A record that workers are not through with is told with its place and what comes before it")
    func unfinished() throws {
        let result = try grantor(FixedInput(values: submitted))("find gone")
        #expect(
            result.output
                == """
                gone  not decided yet
                  It was submitted. A worker has not read it yet, or verifies it now. Before it at most 1 record of its partition waits. Ask again in a minute. If it still stands here, see grantor workers list and the worker's log. Tell the player: "Your purchase has reached us, and is being checked."
                  found on receipts.submitted/5/174, at 2023-11-14T22:13:20.000Z

                """)
        #expect(result.status == .done && result.errors.isEmpty)
    }

    private let again = [#"{"submissionId":"s-1","userId":"u-1"}"#, #"{"submissionId":"s-2","userId":"u-1"}"#]

    @Test("A user whom the ledger knows may have bought again: records stand behind its rows, each once")
    func beside() throws {
        let result = try grantor(FixedInput(values: again))("find u-1")
        #expect(
            result.output.contains("\n\ns-2  not decided yet\n") && result.output.contains("\n\nu-1  quarantined: "))
        #expect(result.output.hasPrefix("u-1  held: no_answer\n") && result.status == .done)
        #expect(result.output.contains("found on receipts.submitted/5/174"))
        #expect(!result.output.contains("found on receipts.submitted/5/173"), "the ledger has this record")
        let json = try grantor(FixedInput(values: again))("find u-1 --json").output
        #expect(json.contains("\"record\" : \"receipts.submitted/5/174\"") && !json.contains("notLookedAt"))
    }

    @Test("Beside rows of the ledger it is said, and is no failure, that a topic could not be looked through")
    func besideAway() throws {
        var half = try grantor(FixedInput(values: again))
        half.quarantine.failure = FixedCluster.away
        let result = half("find u-1")
        #expect(result.output.contains("\nNot all topics can be looked through: ") && result.status == .done)
        #expect(!result.output.contains("found on receipts.submitted/5/173"), "the ledger has this record")
        #expect(half("find u-1 --json").output.contains("\"notLookedAt\" : ["))
        let unset = try SampleRun()("find u-1")
        #expect(unset.output.contains("GRANTOR_KAFKA_BOOTSTRAP_SERVERS") && unset.status == .done)
        let many = Array(repeating: "{}", count: TopicSearch.mostOfPartition + 5)
        let more = try grantor(FixedInput(values: many))("find u-1")
        #expect(more.output.hasSuffix("\n5 more unread or quarantined records were not looked at.\n"))
    }

    @Test("The topics are not looked through for a transaction that the ledger has")
    func transaction() throws {
        let result = try grantor(FixedInput(failure: FixedCluster.away))("find 1000007")
        #expect(result.status == .done && !result.output.contains("topics"))
    }

    @Test("Each unread record is told with its submission's id, and how many wait before it")
    func several() {
        let text = search("u-1", in: again + again).text("u-1", width: nil)
        #expect(text.contains("\n\ns-2  not decided yet\n") && text.contains("\n\ns-1  not decided yet\n"))
        #expect(
            text.contains("at most 3 records of its partition wait.")
                && text.contains("1 record of its partition waits."))
        #expect(search("u-1", in: again).json.text.contains("\"submissionId\" : \"s-2\""))
    }

    @Test("A quarantined record is told with its reason, and how to see it")
    func quarantined() {
        let text = search("u-1", in: []).text("u-1", width: nil)
        #expect(text.hasPrefix("u-1  quarantined: no JSON\n  It was submitted, and no worker can read it: "))
        #expect(text.contains("grantor quarantine show 1/40 shows the record."))
        #expect(text.contains("found on receipts.quarantined/1/40, came as receipts.submitted/5/173, at 2023-11-14"))
    }

    @Test(
        "A record that our side could not decide is reported, and no fault of the program that wrote it",
        arguments: [QuarantineReason.endsWorkers, .refusedByLedger])
    func ours(reason: QuarantineReason) {
        let text = search("u-1", in: [], quarantine: FixedQuarantine(reason: reason.words)).text("u-1", width: nil)
        #expect(text.contains("To do: report it, with this record.") && !text.contains("mend the program"))
    }

    @Test("A record that stands on both topics is a quarantined one")
    func both() {
        let hits = search("u-1", in: ["u-1", "u-1"], next: [FixedLedger.origin.topicPartition: 173]).hits
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
        "A word is one of the ids of a submission, in whatever way they are written, and no other member",
        arguments: [
            ("s-9", "", true), ("u-9", "", true), ("2000000123", "", true), (" 2000000123 ", "", true),
            ("o/9", #","orderId":"o\/9""#, true),
            ("o-é", #","orderId":"o-\u00e9""#, true), ("com.example.game", "", false), ("u-99", "", false),
        ])
    func ids(word: String, members: String, isFound: Bool) {
        #expect(search(word, in: [submission(members)]).hits.isEmpty != isFound)
    }

    @Test(
        "In a record that is no submission a word may stand anywhere, as a whole word, or be its key",
        arguments: [
            ("u-7", "u-7", true), ("u-7", "not json: u-7;", true), ("u-7", "u-77 u-7", true),
            ("u-7", "userId=u-7&a=b", true), ("u-7", "xu-7", false), ("u-7", "u-77", false), ("7", "ab/7+c=", false),
            ("7", "ab+7=", false), ("7", "1.7.2", false), ("é", "éé", false), ("key-0", "", true), ("", "any", false),
        ])
    func words(word: String, value: String, isFound: Bool) {
        #expect(search(word, in: [value]).hits.isEmpty != isFound)
    }

    @Test("Hits beyond the limit are said to exist")
    func more() throws {
        let input = FixedInput(values: Array(repeating: "gone", count: 3))
        let result = try grantor(input)("find gone --limit 2")
        #expect(result.output.hasSuffix("\nMore exist than these 2; --limit shows more.\n"))
        #expect(try grantor(input)("find gone --limit 2 --json").output.contains("\"hasMore\" : true"))
    }

    @Test("Where nothing is found, it is said how much was looked at")
    func nothing() throws {
        let result = try grantor(FixedInput(values: submitted))("find nobody")
        #expect(result.status == .failed && result.output.isEmpty)
        #expect(
            result.errors
                == "grantor: nothing in the ledger has the id \"nobody\". 2 unread and 2 quarantined records were looked through: it may be one of the stubs that grantor quarantine list shows, or it was never submitted, or under another id, or its answer was pruned or erased\n"
        )
        let many = Array(repeating: "{}", count: TopicSearch.mostOfPartition + 5)
        let more = try grantor(FixedInput(values: many))("find nobody")
        #expect(
            more.errors.contains(". 1000 unread and 2 quarantined records were looked through: more of them are there"))
    }

    @Test("What may be an id of Apple's and is not found leads to the user first")
    func ofApple() throws {
        let words =
            "; if it is Apple's, search by the user: what waits, is unread or was given up is mostly not found by it"
        for input in [FixedInput(values: submitted), FixedInput(failure: FixedCluster.away)] {
            let run = try grantor(input)
            #expect(run("find 404").errors.contains("the id \"404\"\(words)"))
            #expect(!run("find nobody").errors.contains("search by the user"))
        }
    }

    @Test("Where a topic cannot be looked through, the command says so, and shows what the other one has")
    func away() throws {
        let away = try grantor(FixedInput(failure: FixedCluster.away))("find nobody")
        #expect(away.status == .failed)
        #expect(away.errors.contains("\(SubmissionWords.ofUnknown). Not all topics can be looked through: "))
        var half = try grantor(FixedInput(values: submitted))
        half.quarantine.failure = FixedCluster.away
        let result = half("find gone")
        #expect(result.output.hasPrefix("gone  not decided yet\n") && result.status == .failed)
        #expect(result.errors.contains("the id \"gone\". Not all topics can be looked through: "))
        let unset = try SampleRun()("find nobody")
        #expect(unset.status == .failed && unset.errors.contains("GRANTOR_KAFKA_BOOTSTRAP_SERVERS"))
    }
}
