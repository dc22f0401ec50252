import Contract
import Ledger
import Testing

@testable import Audit
@testable import Kafka

@Suite("Audit") struct AuditTests {
    private static let damage = KafkaError.rejected(
        KafkaFailure(code: -199, name: "_BAD_MSG", text: "a batch is damaged and cannot be read"))

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

    // MARK: Since

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

    // MARK: Parts that were not looked at

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

    // MARK: Records that leave their topics while an audit runs

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
        let record = try stage.quarantine(isTold: false)
        let topics = stage.topics
        topics.beforeReading(.submitted) {
            topics.publish(QuarantinedEvent.event(of: record, reason: "no JSON"), at: AuditStage.noon)
            topics.beforeReading(.quarantined) { topics.truncate(.quarantined, before: 1) }
        }
        let report = try stage.audit()
        #expect(report.words == [])
        #expect(report.gaps == ["removed receipts.quarantined"])
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
