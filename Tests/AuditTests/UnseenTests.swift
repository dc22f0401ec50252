import Contract
import Ledger
import Testing

@testable import Audit
@testable import Kafka

@Suite("Parts that an audit does not see") struct UnseenTests {
    private static let damage = KafkaError.rejected(
        KafkaFailure(code: -199, name: "_BAD_MSG", text: "a batch is damaged and cannot be read"))

    @Test(
        "A topic that cannot be read makes an audit incomplete, and nothing of it is missed",
        arguments: [Topic.submitted, .granted, .failed, .quarantined])
    func denied(_ topic: Topic) throws {
        let stage = try AuditStage()
        try stage.everything()
        stage.topics.change(topic) { log in
            log.error = .denied(KafkaFailure(code: 29, name: "TOPIC_AUTHORIZATION_FAILED", text: "denied"))
        }
        guard topic != .submitted else {
            #expect(throws: AuditError.self) { try stage.audit() }
            return
        }
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps.contains("unreadable \(topic.defaultName)"))
    }

    @Test(
        "A topic with a damaged batch makes an audit incomplete, and nothing of it is missed",
        arguments: [Topic.submitted, .granted, .failed, .quarantined])
    func damaged(_ topic: Topic) throws {
        let stage = try AuditStage()
        try stage.everything()
        stage.topics.change(topic) { $0.damage = (0, Self.damage) }
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps.filter { $0.hasPrefix("unreadable") } == ["unreadable \(topic.defaultName)"])
        #expect(report.verdict == .incomplete)
        #expect(report.unseen.first { $0.reason == .unreadable }?.detail == "\(Self.damage)")
    }

    @Test("Where the oldest record that is left or not complete is damaged, the rest is looked at")
    func damagedFirst() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        try stage.grant("s2", "1002")
        stage.topics.truncate(.granted, before: 1)
        stage.topics.change(.granted) { $0.damage = (1, Self.damage) }
        _ = stage.submit("s3")
        stage.topics.change(.submitted) { $0.damage = (2, Self.damage) }
        let report = try stage.audit()
        #expect(report.words == [])
        let unreadable = report.gaps.filter { $0.hasPrefix("unreadable") }
        #expect(unreadable == ["unreadable purchases.granted", "unreadable receipts.submitted"])
        #expect(report.counts.records == 2)
    }

    @Test("A topic that was made anew is not looked at")
    func madeAnew() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        try stage.grant("s2", "1002")
        stage.topics.change(.submitted) { $0 = TopicsInMemory.Log() }
        #expect(try stage.audit().gaps == ["made_anew receipts.submitted/0"])
    }

    @Test("Old rows do not speak for the records of a topic that was made anew")
    func madeAnewAndPassed() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        stage.topics.change(.submitted) { $0 = TopicsInMemory.Log() }
        _ = stage.submit("other")
        #expect(try stage.audit().words == ["record_without_outcome 1"])
    }

    @Test("An untold grant of a topic that was made anew is named, however few records the new one has")
    func madeAnewBehindTheEnd() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        try stage.grant("s2", "1002", isTold: false)
        stage.topics.change(.submitted) { $0 = TopicsInMemory.Log() }
        stage.now = stage.now.advanced(by: .seconds(3_600))
        try stage.grant("s3", "1003")
        let report = try stage.audit()
        #expect(report.words == ["grant_untold 1"])
        #expect(report.inconsistencies.map(\.submissionID) == ["s2"])
        #expect(report.counts.openRows == 0)
        #expect(report.next == stage.now.advanced(by: .zero - AuditLimits.tolerance), "the old row keeps none waiting")
    }

    @Test("A row that comes while the audit begins may stand behind the end that it has seen")
    func rowBehindTheEnd() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        stage.beforeRows = { [unowned stage] _ in
            _ = try stage.write(
                try stage.submission(stage.submit("s2")), .grant([AuditStage.purchase("1002")], by: .verifyReceipt))
        }
        #expect(try stage.audit().verdict == .holds)
    }

    @Test("Rows of a later version are counted, and their events are not compared", arguments: AuditedStore.allCases)
    func laterVersion(_ store: AuditedStore) throws {
        let stage = try AuditStage(store)
        try stage.grant("s1", "1001")
        try stage.fail("s2")
        try stage.sql("UPDATE grants SET format = 99; UPDATE answers SET format = 99")
        let report = try stage.audit()
        #expect(report.gaps == ["later_version ledger"])
        #expect(report.words == [])
        #expect(report.counts.later == 2)
    }

    @Test("What was pruned is not looked at, and what came later is", arguments: AuditedStore.allCases)
    func pruned(_ store: AuditedStore) throws {
        let stage = try AuditStage(store)
        try stage.fail("s1")
        stage.now = stage.now.advanced(by: .seconds(3_600))
        try AuditStage.prune(stage.ledger, before: stage.now)
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == ["forgotten answers"])
        #expect(report.unseen.map(\.count) == [2])
        try stage.fail("s2")
        try stage.sql("DELETE FROM answers WHERE submission_id = 's2'")
        #expect(try stage.audit().words == ["event_without_row 1", "record_without_outcome 1"])
    }

    @Test("What is pruned during the audit is forgotten, not lost", arguments: AuditedStore.allCases)
    func prunedMeanwhile(_ store: AuditedStore) throws {
        let stage = try AuditStage(store)
        try stage.fail("s1")
        stage.now = stage.now.advanced(by: .seconds(3_600))
        let before = stage.now
        stage.beforeRows = { ledger in
            try AuditStage.prune(ledger, before: before)
        }
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == ["forgotten answers"])
        #expect(report.unseen.map(\.count) == [2])
    }

    @Test("An erased user's grant may have been told with any bytes, and an imported one need not be told")
    func erasedAndImported() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        try stage.grant("s2", "1002", user: "player-2", isTold: false)
        try stage.sql("UPDATE grants SET verified_by = 'import' WHERE transaction_id = '1002'")
        let pseudonyms = try #require(Pseudonyms(key: Array(repeating: 7, count: Pseudonyms.leastKeyBytes)))
        let at = stage.now.advanced(by: .seconds(60))
        let note = OperatorNote(actor: "alice", reason: "asked by mail", at: at)
        let erasure = Erasure(userID: "player-1", bundleID: nil, pseudonyms: pseudonyms)
        guard case .done(let rows) = try stage.ledger.erase(erasure, note) else {
            Issue.record("nobody is erased")
            return
        }
        let report = try stage.audit()
        #expect(rows.grants == 1 && report.words == [])
        // The record of the erased submission has no row under its id any more.
        #expect(report.gaps == ["forgotten answers"])
    }

    @Test("A group without offsets, and another group's ledger, are told of")
    func groups() throws {
        let stage = try AuditStage()
        _ = stage.submit("s1")
        #expect(try stage.audit().gaps == ["never_read receipts.submitted"])
        #expect(try stage.audit(group: "other").gaps.contains("foreign_ledger ledger"))
    }

    @Test("A standby that may be behind is not blamed for the events of its newest rows")
    func standby() throws {
        let stage = try AuditStage()
        try stage.grant("s1", "1001")
        let events = try stage.write(
            try stage.submission(stage.submit("s2")), .grant([AuditStage.purchase("1002")], by: .verifyReceipt))
        stage.tell(events)
        try stage.sql("DELETE FROM grants WHERE transaction_id = '1002'")
        stage.topics.commit(2)
        let report = try stage.audit(isStandby: true)
        #expect(report.words == [])
        #expect(report.gaps == ["behind ledger"])
        #expect(try stage.audit().words == ["event_without_row 1", "record_without_outcome 1"])
    }

    @Test("A standby is not blamed for what its outbox may owe no more")
    func standbyOutbox() throws {
        let stage = try AuditStage()
        for event in try stage.grant("s1", "1001", isTold: false) { try stage.owe(event.key) }
        try stage.grant("s2", "1002", owesCall: true)
        let grants = try stage.ledger.grants(GrantQuery(transactionID: "1002"))
        for row in grants { stage.topics.publish(GrantedEvent.event(of: row.grant), at: stage.now) }
        try stage.sql("UPDATE outbox SET owed_since = owed_since - 7200000 WHERE key LIKE '%1001'")
        let report = try stage.audit(isStandby: true)
        #expect(report.words == [])
        #expect(report.gaps == ["behind ledger", "behind outbox"])
        #expect(try stage.audit().words == ["overdue 1", "told_before_call 1"])
    }
}
