import Contract
import Testing

@testable import Audit

@Suite("Records that have left their topics") struct RemovedRecordsTests {
    @Test("Records that have left the input topic make an audit incomplete, unless only later ones are asked for")
    func removedRecords() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        stage.now = stage.now.advanced(by: .seconds(3_600))
        try stage.grant("s2", "1002")
        stage.now = stage.now.advanced(by: .seconds(3_600))
        let since = stage.now
        stage.topics.truncate(.submitted, before: 1)
        let report = try stage.audit()
        #expect(report.gaps == ["removed receipts.submitted/0"])
        #expect(report.verdict == .incomplete)
        #expect(try stage.audit(since: since).verdict == .holds)
    }

    @Test("An event that may have left its topic again is not missed, and a later one is")
    func removedEvents() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        stage.now = stage.now.advanced(by: .seconds(3_600))
        try stage.grant("s2", "1002")
        stage.topics.truncate(.granted, before: 1)
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == ["removed purchases.granted"])
        stage.now = stage.now.advanced(by: .seconds(3_600))
        try stage.grant("s3", "1003", isTold: false)
        #expect(try stage.audit().words == ["grant_untold 1"])
        #expect(try stage.audit().verdict == .broken)
    }

    @Test("Records that left the input topic before anybody decided them are named")
    func removedBeforeTheyWereComplete() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        _ = stage.submit("s2")
        _ = stage.submit("s3")
        stage.topics.truncate(.submitted, before: 2)
        let report = try stage.audit()
        #expect(report.unseen.map(\.count) == [1])
        #expect(report.unseen.first?.detail?.contains("nobody has decided them") == true)
    }

    @Test(
        "Records that leave a topic before the audit has read them make it incomplete",
        arguments: [Topic.submitted, .granted, .failed, .quarantined])
    func removedMeanwhile(_ topic: Topic) throws {
        let stage = try AuditStage()
        try stage.everything()
        stage.topics.beforeReading(topic) { [topics = stage.topics] in topics.truncate(topic, before: 1) }
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps.contains("removed \(topic.defaultName)/0"))
        #expect(report.verdict == .incomplete)
        let partition = report.unseen.first { $0.what == "\(topic.defaultName)/0" }
        #expect(partition?.count == 1)
    }

    @Test("Events that leave their topic while it is read are not missed, and none of them is mended")
    func removedEventsMeanwhile() throws {
        let stage = try AuditStage()
        for number in 1...3 { try stage.grant("s\(number)", TransactionID("100\(number)")) }
        try stage.fail("s4")
        for topic in [Topic.granted, .failed] {
            stage.topics.beforeReading(topic) { [topics = stage.topics] in
                topics.truncate(topic, before: topics.log(topic).end)
            }
        }
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.mendable == [])
        #expect(
            report.gaps == [
                "removed purchases.failed", "removed purchases.failed/0", "removed purchases.granted",
                "removed purchases.granted/0",
            ])
        #expect(report.unseen.map(\.count).compactMap(\.self).sorted() == [1, 1, 3, 3])
    }

    @Test("Records that leave before the moment that an audit looks from are none of its business")
    func removedBeforeSince() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        stage.now = stage.now.advanced(by: .seconds(3_600))
        let since = stage.now
        try stage.grant("s2", "1002")
        for topic in [Topic.submitted, .granted] {
            stage.topics.beforeReading(topic) { [topics = stage.topics] in topics.truncate(topic, before: 1) }
        }
        #expect(try stage.audit(since: since).verdict == .holds)
    }

    @Test("An event that was published during the audit and has left its topic again is not missed")
    func publishedAndRemovedMeanwhile() throws {
        let stage = try AuditStage()
        let topics = stage.topics
        try stage.grantMeanwhile { topics.truncate(.granted, before: topics.log(.granted).end) }
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == ["removed purchases.granted"])
    }

    @Test("A record that leaves its topic before it is looked at again is told of")
    func removedBeforeTheSecondLook() throws {
        let stage = try AuditStage()
        _ = stage.submit("s1")
        try stage.complete()
        let topics = stage.topics
        topics.beforeReading(.submitted) {
            topics.beforeReading(.submitted) { topics.truncate(.submitted, before: 1) }
        }
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == ["removed receipts.submitted/0"])
    }

    @Test("A quarantined copy that leaves its topic during the second look is not missed")
    func copyRemovedMeanwhile() throws {
        let stage = try AuditStage()
        stage.loseCopyMeanwhile(of: try stage.quarantine(isTold: false))
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == ["removed receipts.quarantined"])
    }
}
