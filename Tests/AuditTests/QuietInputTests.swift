import Contract
import Kafka
import Testing

@testable import Audit

@Suite("Audits of an input topic that is quiet for longer than it keeps records") struct QuietInputTests {
    private let stage: AuditStage
    private let before: AuditReport

    /// One record is granted, and an audit holds.
    init() throws {
        stage = try AuditStage()
        try stage.grant("s1", "1001")
        before = try stage.audit()
        stage.now = stage.now.advanced(by: .seconds(20 * 86_400))
    }

    @Test("A partition may lose the records that an audit from before has judged")
    func emptied() throws {
        #expect(before.judged == [TopicsInMemory.partition(.submitted): 1])
        stage.topics.truncate(.submitted, before: 1)
        #expect(try stage.audit(since: before.next).gaps == ["removed receipts.submitted/0"])
        let quiet = try stage.audit(since: before.next, judged: before.judged)
        #expect(quiet.gaps == [])
        #expect(quiet.verdict == .holds)
        #expect(quiet.judged == before.judged)
        // The next record comes into an empty partition.
        try stage.grant("s2", "1002")
        let next = try stage.audit(since: quiet.next, judged: quiet.judged)
        #expect(next.verdict == .holds)
        #expect(next.judged == [TopicsInMemory.partition(.submitted): 2])
    }

    @Test("It may lose none that no audit has judged, and a record that is lost is found")
    func notJudged() throws {
        try stage.grant("s2", "1002")
        _ = stage.submit("s3")
        try stage.complete()
        stage.topics.truncate(.submitted, before: 1)
        #expect(try stage.audit(since: before.next, judged: before.judged).words == ["record_without_outcome 1"])
        stage.topics.truncate(.submitted, before: 2)
        #expect(
            try stage.audit(since: before.next, judged: before.judged).gaps.contains("removed receipts.submitted/0"))
    }

    @Test("Records that nobody has decided are named, whatever was judged")
    func notDecided() throws {
        _ = stage.submit("s2")
        stage.topics.truncate(.submitted, before: 2)
        let report = try stage.audit(since: before.next, judged: before.judged)
        #expect(report.unseen.first?.detail?.contains("nobody has decided them") == true)
    }
}
