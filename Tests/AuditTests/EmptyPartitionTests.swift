import Contract
import Kafka
import Testing

@testable import Audit

/// A partition is empty behind records that have left it: a topic with few records is so after each quiet month.
@Suite("Audits of topics whose partitions are empty behind removed records") struct EmptyPartitionTests {
    private let stage: AuditStage
    private let kept = Duration.seconds(30 * 86_400)

    init() throws {
        stage = try AuditStage()
        stage.topics.keep(kept)
    }

    /// A month of retention goes by, and all events and quarantined records leave their topics.
    private func passMonth() {
        stage.now = stage.now.advanced(by: kept + .seconds(3_600))
        for topic in [Topic.granted, .failed, .quarantined] {
            stage.topics.truncate(topic, before: stage.topics.log(topic).end)
        }
    }

    @Test("An event that is younger than its topic's retention is missed")
    func untold() throws {
        try stage.grant("s1", "1001")
        try stage.fail("s2")
        passMonth()
        #expect(try stage.audit().gaps == ["removed purchases.failed", "removed purchases.granted"])
        try stage.grant("s3", "1003", isTold: false)
        try stage.fail("s4", isTold: false)
        #expect(try stage.audit().words == ["failure_untold 1", "grant_untold 1"])
        let young = stage.now.advanced(by: .seconds(-60))
        #expect(try stage.audit(since: young).words == ["failure_untold 1", "grant_untold 1"])
    }

    @Test("A record without an outcome is missed if its quarantined copy would still be there")
    func withoutOutcome() throws {
        try stage.quarantine()
        passMonth()
        #expect(try stage.audit().gaps == ["removed receipts.quarantined"])
        _ = stage.submit("s2")
        try stage.quarantine("also no JSON", isTold: false)
        #expect(try stage.audit().words == ["quarantine_untold 1", "record_without_outcome 1"])
    }

    @Test("Where records may leave a topic at any age, nothing of it is missed")
    func ofAnyAge() throws {
        stage.topics.keep(nil)
        try stage.grant("s1", "1001")
        try stage.quarantine()
        passMonth()
        try stage.grant("s2", "1002", isTold: false)
        _ = stage.submit("s3")
        try stage.complete()
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == ["removed purchases.granted", "removed receipts.quarantined"])
    }

    @Test("A quarantine topic that becomes empty while the audit runs may have lost any record")
    func emptiedMeanwhile() throws {
        stage.loseCopyMeanwhile(of: try stage.quarantine(isTold: false))
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == ["removed receipts.quarantined"])
    }

    @Test(
        "Only a topic that deletes by age alone says how young a removed record can be",
        arguments: [
            ("delete", "-1", "60000", Duration.seconds(60)), ("delete", "-1", "0", .zero), ("delete", "-1", "-1", nil),
            ("delete", "1000", "60000", nil), ("compact", "-1", "60000", nil), ("compact,delete", "-1", "60000", nil),
        ] as [(String, String, String, Duration?)])
    func leastAge(_ policy: String, _ bytes: String, _ age: String, _ expected: Duration?) {
        let properties = ["cleanup.policy": policy, "retention.bytes": bytes, "retention.ms": age]
        #expect(KafkaTopics.leastAge(properties) == expected)
        for name in properties.keys { #expect(KafkaTopics.leastAge(properties.filter { $0.key != name }) == nil) }
    }
}
