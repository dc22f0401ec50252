import Contract
import Kafka
import Testing

@testable import grantor_demo

@Suite("The demo's judge")
struct AnswersTests {
    private let paid: TransactionID = "2000000000000007"

    @Test("A purchase that was granted once is as it must be, however many equal copies there are")
    func grantedOnce() {
        let answers = answers([granted("event-1"), granted("event-1")])
        #expect(answers.hold(submission(.granted([paid]))))
        #expect(answers.granted == 1)
        #expect(answers.copiesAreEqual)
    }

    @Test("A purchase under two event ids was granted twice")
    func grantedTwice() {
        let answers = answers([granted("event-1"), granted("event-2")])
        #expect(!answers.hold(submission(.granted([paid]))))
        #expect(answers.granted == 2)
    }

    @Test("Copies that differ in one byte are found")
    func unequalCopies() {
        let answers = answers([granted("event-1"), granted("event-1", user: "thief")])
        #expect(!answers.copiesAreEqual)
    }

    @Test("A repeat is answered by a copy that names it, and by no other")
    func repeats() {
        let repeated = submission(.repeated(paid))
        #expect(!answers([granted("event-1")]).hold(repeated))
        #expect(!answers([granted("event-1", repeatOf: "demo-2")]).hold(repeated))
        #expect(answers([granted("event-1", repeatOf: "demo-1")]).hold(repeated))
    }

    @Test("A failure counts under its own reason alone")
    func failures() {
        var answers = Answers()
        let event = record(#"{"eventId":"e","reason":"unknown_app","submissionId":"demo-1"}"#)
        answers.take([event], of: Topic.failed.defaultName)
        #expect(answers.hold(submission(.failed(.unknownApp))))
        #expect(!answers.hold(submission(.failed(.bundleMismatch))))
    }

    @Test("An event of a submission that waits is none of the answers")
    func pending() {
        var answers = Answers()
        let event = record(#"{"eventId":"e","cause":"no_answer","submissionId":"demo-1"}"#)
        answers.take([event, event], of: Topic.pending.defaultName)
        #expect(answers.pending == ["demo-1"])
        #expect(answers.failures.isEmpty)
        #expect(answers.unreadable == 0)
    }

    @Test("A record that is no event of its topic is counted", arguments: Topic.outputs)
    func unreadable(topic: Topic) {
        var answers = Answers()
        answers.take([record("{}")], of: topic.defaultName)
        #expect(answers.unreadable == 1)
    }

    @Test("A record that is quarantined again under its id counts once")
    func quarantined() {
        var answers = Answers()
        let headers = QuarantinedEvent.event(of: record("x"), reason: "no JSON").headers
        answers.take([record("x", headers), record("x", headers)], of: Topic.quarantined.defaultName)
        #expect(answers.quarantined == 1)
    }

    private func submission(_ expectation: DemoSubmission.Expectation) -> DemoSubmission {
        DemoSubmission(kind: "", id: "demo-1", key: [], value: nil, expectation: expectation)
    }

    private func answers(_ records: [InputRecord]) -> Answers {
        var answers = Answers()
        answers.take(records, of: Topic.granted.defaultName)
        return answers
    }

    private func granted(_ event: String, user: String = "user-1", repeatOf submission: String? = nil) -> InputRecord {
        let headers = submission.map { [RecordHeader(name: GrantedEvent.repeatHeader, value: Array($0.utf8))] }
        return record(#"{"eventId":"\#(event)","transactionId":"\#(paid)","userId":"\#(user)"}"#, headers ?? [])
    }

    private func record(_ value: String, _ headers: [RecordHeader] = []) -> InputRecord {
        InputRecord(
            origin: Origin(topic: "", partition: 0, offset: 0), key: nil, value: Array(value.utf8), headers: headers,
            timestamp: nil)
    }
}
