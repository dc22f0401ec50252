import Contract
import Ledger
import Testing

@testable import Audit

@Suite("Audit") struct AuditTests {
    @Test("A ledger and topics that are as they have to be hold", arguments: AuditedStore.allCases)
    func holds(_ store: AuditedStore) throws {
        let stage = try AuditStage(store)
        try stage.everything()
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == [])
        #expect(report.verdict == .holds)
        #expect(report.counts.records == 9)
        #expect(report.counts.grants == 4)
        #expect(report.counts.failures == 1)
        #expect(report.counts.repeats == 1)
        #expect(report.counts.waiting == 1)
        #expect(report.counts.owed == 2)
        #expect(report.counts.quarantined == 1)
        try stage.drain()
        #expect(try stage.audit().verdict == .holds)
    }

    @Test("Nothing at all holds")
    func empty() throws {
        let stage = try AuditStage()
        #expect(try stage.audit().verdict == .holds)
    }

    @Test("What is under way is not asked for", arguments: AuditedStore.allCases)
    func underWay(_ store: AuditedStore) throws {
        let stage = try AuditStage(store)
        try stage.grant("s1", "1001")
        // One is decided, not published yet, and not passed; no worker has looked at the other.
        _ = try stage.write(
            try stage.submission(stage.submit("s2")), .grant([AuditStage.purchase("1002")], by: .verifyReceipt))
        _ = stage.submit("s3")
        let report = try stage.audit()
        #expect(report.verdict == .holds)
        #expect(report.counts.openRows == 1)
        #expect(report.counts.openRecords == 2)
    }

    @Test("An event that was owed before the audit and published during it is told")
    func publishedMeanwhile() throws {
        let stage = try AuditStage()
        try stage.grantMeanwhile()
        let report = try stage.audit()
        #expect(report.verdict == .holds)
    }

    @Test("A grant that came during the audit and is owed is told")
    func owedMeanwhile() throws {
        let stage = try AuditStage()
        try stage.hold("s1")
        _ = stage.submit("s2")
        stage.topics.beforeReading(.submitted) { try? stage.grantWaiting("1001") }
        #expect(try stage.audit().verdict == .holds)
    }

    @Test("A purchase of one id in both environments is two purchases")
    func environments() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        stage.tell(
            try stage.write(
                try stage.submission(stage.submit("s2")),
                .grant([AuditStage.purchase("1001", environment: .sandbox)], by: .verifyReceipt)))
        try stage.complete()
        #expect(try stage.audit().verdict == .holds)
    }

    @Test("A record that ended workers is quarantined, whatever is in it")
    func poison() throws {
        let stage = try AuditStage()
        let record = stage.submit("s1")
        stage.topics.publish(QuarantinedEvent.event(of: record, reason: "ends workers"), at: stage.now)
        try stage.complete()
        #expect(try stage.audit().verdict == .holds)
    }

    @Test("Offsets that an operator has passed are told by their stubs, owed or published")
    func passed() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        _ = stage.submit("s2")
        _ = stage.submit("", value: Array("no JSON".utf8))
        let partition = TopicsInMemory.partition(.submitted)
        let offsets = try #require(PassedOffsets(partition: partition, offsets: 1...2))
        let note = OperatorNote(actor: "anna", reason: "damaged", at: stage.now)
        #expect(try stage.ledger.pass(offsets, note) == .passed)
        #expect(try stage.audit().verdict == .holds)
        try stage.drain()
        #expect(try stage.audit().verdict == .holds)
    }

    @Test("The next audit begins before whatever this one found unsettled")
    func next() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        stage.now = stage.now.advanced(by: .seconds(3_600))
        let settled = try stage.audit()
        #expect(settled.next == stage.now.advanced(by: .zero - AuditLimits.tolerance))
        _ = stage.submit("s2")
        stage.now = stage.now.advanced(by: .seconds(3_600))
        #expect(try stage.audit().next == settled.next)
    }

    @Test("An audit since a moment names nothing older, and finds older outcomes of younger records")
    func since() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001", isTold: false)
        try stage.grant("s2", "1002")
        stage.now = stage.now.advanced(by: .seconds(3 * 86_400))
        let since = stage.now
        // An old submission in a new record, and an old grant's event for a new submission.
        stage.tell(
            try stage.write(
                stage.submission(stage.submit("s2")), .grant([AuditStage.purchase("1002")], by: .verifyReceipt)))
        try stage.grant("s3", "1002")
        #expect(try stage.audit().words == ["grant_untold 1"])
        #expect(try stage.audit(since: since).verdict == .holds)
        try stage.grant("s4", "1004", isTold: false)
        #expect(try stage.audit(since: since).words == ["grant_untold 1"])
    }

    @Test("What was decided again after a backup is named, and breaks nothing", arguments: AuditedStore.allCases)
    func decidedAgain(_ store: AuditedStore) throws {
        let stage = try AuditStage(store)
        try stage.grant("s1", "1001")
        try stage.fail("s2")
        // The second decisions' copies, which came later.
        try stage.sql(
            """
            UPDATE grants SET granted_at = granted_at + 60000;
            UPDATE answers SET answered_at = answered_at + 60000, attempts = attempts + 12
            """)
        let report = try stage.audit()
        #expect(report.words == ["decided_again 2"])
        #expect(report.verdict == .holds)
        #expect(report.mendable == [])
        // The same with one more unit is another thing.
        try stage.sql("UPDATE grants SET quantity = quantity + 1")
        #expect(try stage.audit().words == ["decided_again 1", "event_altered 1"])
        #expect(try stage.audit().verdict == .broken)
    }
}
