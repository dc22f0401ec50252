import Contract
import Cryptography
import Ledger
import Testing

@testable import Audit

/// Something spoiled in a sound ledger or its topics, and the audit's words for it.
struct PlantedInconsistency: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let found: [String]
    /// Whether events in the outbox mend all of it.
    let isMended: Bool
    let spoil: @Sendable (AuditStage) throws -> Void

    init(
        _ description: String, _ found: [String], isMended: Bool = false,
        _ spoil: @escaping @Sendable (AuditStage) throws -> Void
    ) {
        testDescription = description
        self.found = found
        self.isMended = isMended
        self.spoil = spoil
    }

    static let all = untold + lost + topics + rows + outbox

    private static let untold = [
        PlantedInconsistency("a grant's event was never told", ["grant_untold 1"], isMended: true) {
            try $0.grant("x1", "2001", isTold: false)
        },
        PlantedInconsistency("a failure's event was never told", ["failure_untold 1"], isMended: true) {
            try $0.fail("x1", isTold: false)
        },
        PlantedInconsistency("the event of a grant that had waited was never told", ["grant_untold 1"], isMended: true)
        {
            try $0.hold("x1")
            try $0.grantWaiting("2001")
            try $0.sql("DELETE FROM outbox WHERE key LIKE '%2001'")
        },
        PlantedInconsistency("a record that cannot be read was passed", ["quarantine_untold 1"], isMended: true) {
            try $0.quarantine("{]", isTold: false)
        },
        PlantedInconsistency(
            "a quarantined copy has the content of another record", ["quarantine_untold 1"], isMended: true
        ) { stage in
            let record = try stage.quarantine("{]", isTold: false)
            let other = InputRecord(
                origin: record.origin, key: nil, value: Array("other".utf8), timestamp: record.timestamp)
            stage.topics.publish(QuarantinedEvent.event(of: other, reason: "no JSON"), at: stage.now)
        },
        PlantedInconsistency("events have gone from their topic", ["grant_untold 2"], isMended: true) { stage in
            try stage.grant("x1", "2001")
            try stage.grant("x2", "2002")
            stage.topics.change(.granted) { log in
                log.records[log.end - 1] = nil
                log.records[log.end - 2] = nil
            }
        },
    ]

    private static let lost = [
        PlantedInconsistency("a record was passed that nobody decided", ["record_without_outcome 1"]) {
            _ = $0.submit("x1")
            try $0.complete()
        },
        PlantedInconsistency("a malformed record was passed that nobody decided", ["record_without_outcome 1"]) {
            _ = $0.submit("", value: Array(#"{"submissionId": "x1", "userId": "player-1"}"#.utf8))
            try $0.complete()
        },
        PlantedInconsistency("a grant is gone", ["event_without_row 1", "record_without_outcome 1"]) {
            try $0.grant("x1", "2001")
            try $0.sql("DELETE FROM grants WHERE transaction_id = '2001'")
        },
        PlantedInconsistency("a failure is gone", ["event_without_row 1", "record_without_outcome 1"]) {
            try $0.fail("x1")
            try $0.sql("DELETE FROM answers WHERE submission_id = 'x1'")
        },
        PlantedInconsistency("a row that waits is gone", ["record_without_outcome 1"]) {
            try $0.hold("x1")
            try $0.sql("DELETE FROM retries WHERE submission_id = 'x1'")
        },
        PlantedInconsistency("the group has passed what the ledger has not", ["record_without_outcome 1"]) {
            _ = $0.submit("x1")
            $0.topics.commit($0.topics.log(.submitted).end)
        },
    ]

    fileprivate static func changed(
        _ topic: Topic, _ change: @escaping @Sendable (InputRecord) -> InputRecord
    ) -> @Sendable (AuditStage) -> Void {
        { stage in
            stage.topics.change(topic) { log in
                log.records[log.end - 1] = log.records[log.end - 1].map(change)
            }
        }
    }

    private static func lacking(_ header: String, of topic: Topic) -> @Sendable (AuditStage) -> Void {
        changed(topic) { record in
            InputRecord(
                origin: record.origin, key: record.key, value: record.value,
                headers: record.headers.filter { $0.name != header }, timestamp: record.timestamp)
        }
    }

    private static let topics = [
        PlantedInconsistency(
            "an event on its topic has another value", ["event_altered 1"]
        ) { stage in
            try stage.grant("x1", "2001")
            changed(.granted) { record in
                InputRecord(
                    origin: record.origin, key: record.key, value: (record.value ?? []) + [32], headers: record.headers,
                    timestamp: record.timestamp)
            }(stage)
        },
        PlantedInconsistency("an event on its topic has another key", ["event_altered 1"]) { stage in
            try stage.grant("x1", "2001")
            changed(.granted) { record in
                InputRecord(
                    origin: record.origin, key: Array("player-9".utf8), value: record.value, headers: record.headers,
                    timestamp: record.timestamp)
            }(stage)
        },
        PlantedInconsistency("an event on its topic lacks a header", ["event_altered 1"]) { stage in
            try stage.fail("x1")
            lacking("ce_type", of: .failed)(stage)
        },
        PlantedInconsistency("an event on its topic has another subject", ["event_altered 1"]) { stage in
            try stage.fail("x1")
            lacking("ce_subject", of: .failed)(stage)
        },
        PlantedInconsistency("a second copy of an event differs", ["event_altered 1"]) { stage in
            let events = try stage.grant("x1", "2001")
            stage.tell(events)
            changed(.granted) { record in
                InputRecord(
                    origin: record.origin, key: record.key, value: Array("{}".utf8), headers: record.headers,
                    timestamp: record.timestamp)
            }(stage)
        },
        PlantedInconsistency("an event stands on another topic, too", ["event_altered 1"]) { stage in
            for rendered in try stage.grant("x1", "2001") {
                let event = rendered.event
                stage.topics.append(.failed, key: event.key, value: event.value, headers: event.headers, at: stage.now)
            }
        },
        PlantedInconsistency("an event that no grant tells", ["event_without_row 1"]) { stage in
            let purchase = try AuditStage.purchase("2001")
            let submission = try stage.submission(stage.submit("s1"))
            let grant = Grant(of: purchase, to: submission, by: .verifyReceipt, attempts: 1, grantedAt: stage.now)
            stage.topics.publish(GrantedEvent.event(of: grant), at: stage.now)
        },
        PlantedInconsistency("an event that no failure tells", ["event_without_row 1"]) { stage in
            let record = stage.submit("s1")
            let failure = Failure(
                of: try stage.submission(record).claimant, Rejection(.unknownProduct, "None."), failedAt: stage.now,
                attempts: 1, digest: ClaimDigest(SHA256.hash([])), origin: record.origin)
            stage.topics.publish(FailedEvent.event(of: failure), at: stage.now)
        },
        PlantedInconsistency("a record that is no event", ["event_without_row 1"]) { stage in
            stage.topics.append(.granted, key: nil, value: Array("hello".utf8), at: stage.now)
        },
    ]

    /// A second grant, with all values of an existing one except its transaction and key.
    private static func second(_ transaction: String, key: String) -> String {
        let same = """
            environment, original_transaction_id, product, quantity, purchased_at, verified_by, submission_id, user_id,
            origin_partition, origin_offset, received_at, granted_at, attempts, format
            """
        return """
            INSERT INTO grants (transaction_id, grant_key, \(same))
            SELECT '\(transaction)', '\(key)', \(same) FROM grants WHERE transaction_id = '2001'
            """
    }

    private static let rows = [
        PlantedInconsistency("two grants have one key", ["key_twice 1"]) { stage in
            try stage.grant("x1", "2001")
            try stage.sql("DROP INDEX grants_key; \(second("2002", key: "2001"))")
        },
        PlantedInconsistency("two grants have one transaction", ["grant_untold 1", "purchase_granted_twice 1"]) {
            stage in
            try stage.grant("x1", "2001")
            try stage.sql(
                "DROP INDEX grants_transaction; DROP INDEX grants_key; \(second("2001", key: "p:x"))")
        },
        PlantedInconsistency("a grant says another quantity than its event", ["event_altered 1"]) {
            try $0.grant("x1", "2001")
            try $0.sql("UPDATE grants SET quantity = 7 WHERE transaction_id = '2001'")
        },
        PlantedInconsistency("a grant is another user's than its event", ["event_altered 1"]) {
            try $0.grant("x1", "2001")
            try $0.sql("UPDATE grants SET user_id = 'player-9' WHERE transaction_id = '2001'")
        },
        PlantedInconsistency("a failure says another reason than its event", ["event_altered 1"]) {
            try $0.fail("x1")
            try $0.sql("UPDATE answers SET reason = 'unknown_app' WHERE submission_id = 'x1'")
        },
        PlantedInconsistency("a submission is answered with another user's grant", ["answer_of_another_user 1"]) {
            try $0.grant("x1", "2001")
            try $0.grant("x2", "2001")
            try $0.sql("UPDATE answers SET user_id = 'player-9' WHERE submission_id = 'x2'")
        },
        PlantedInconsistency("a submission is answered with a grant that is not there", ["answer_without_grant 1"]) {
            try $0.grant("x1", "2001")
            try $0.grant("x2", "2001")
            try $0.sql("UPDATE answers SET transaction_id = '2999' WHERE submission_id = 'x2'")
        },
    ]

    private static let outbox = [
        PlantedInconsistency("an event is told before its call", ["told_before_call 1"]) { stage in
            try stage.grant("x1", "2001", owesCall: true)
            let grants = try stage.ledger.grants(GrantQuery(transactionID: "2001"))
            for row in grants { stage.topics.publish(GrantedEvent.event(of: row.grant), at: stage.now) }
        },
        PlantedInconsistency("the outbox owes the event of no grant", ["owed_without_row 1"]) {
            try $0.owe(.granted(GrantReference(environment: .production, transactionID: "2999"), repeatOf: nil))
        },
        PlantedInconsistency("the outbox owes the event of no failure", ["owed_without_row 1"]) {
            // Nothing is owed for a missing failure, so another failure's row is added, and its key changed.
            try $0.owe(.granted(GrantReference(environment: .production, transactionID: "2999"), repeatOf: nil))
            let key = OutboxKey.failed(SubmissionKey(bundleID: AuditStage.app, submissionID: "nobody")).text
            try $0.sql("UPDATE outbox SET key = '\(key)' WHERE key LIKE '%2999%'")
        },
        PlantedInconsistency("the outbox has owed an event for hours", ["overdue 1"]) { stage in
            for event in try stage.grant("x1", "2001", isTold: false) { try stage.owe(event.key) }
            try stage.sql("UPDATE outbox SET owed_since = owed_since - 7200000 WHERE key LIKE '%2001'")
        },
    ]
}

@Suite("Planted inconsistencies") struct InconsistencyTests {
    @Test("Each is found, and told apart", arguments: PlantedInconsistency.all, AuditedStore.allCases)
    func found(_ planted: PlantedInconsistency, _ store: AuditedStore) throws {
        let stage = try AuditStage(store)
        try stage.everything()
        try planted.spoil(stage)
        let report = try stage.audit()
        #expect(report.words == planted.found)
        #expect(report.verdict == .broken)
        #expect(report.gaps == [])
    }

    @Test("A repair leaves none that can be mended", arguments: AuditedStore.allCases)
    func repaired(_ store: AuditedStore) throws {
        for planted in PlantedInconsistency.all where planted.isMended {
            let other = try AuditStage(store)
            try planted.spoil(other)
            let untold = try other.audit().mendable
            let note = OperatorNote(actor: "anna", reason: "the topic was restored", at: other.now)
            #expect(try other.ledger.repair(untold, note) == untold.count)
            #expect(try other.ledger.repair(untold, note) == 0)
            #expect(try other.audit().verdict == .holds, "owed: \(planted.testDescription)")
            try other.drain()
            #expect(try other.audit().verdict == .holds, "published: \(planted.testDescription)")
            let action = try other.ledger.actions(on: nil).last
            #expect(action?.kind == .repair)
            #expect(action?.note.reason.hasSuffix("the topic was restored") == true)
        }
    }

    @Test("No repair publishes an event beside one of the same id", arguments: AuditedStore.allCases)
    func unmended(_ store: AuditedStore) throws {
        for change in [
            "UPDATE grants SET quantity = 7 WHERE transaction_id = '2001'",
            "UPDATE answers SET reason = 'unknown_app' WHERE submission_id = 'x2'",
        ] {
            let stage = try AuditStage(store)
            try stage.grant("x1", "2001")
            try stage.fail("x2")
            try stage.sql(change)
            let report = try stage.audit()
            #expect(report.words == ["event_altered 1"])
            #expect(report.mendable == [])
        }
    }

    @Test("An event that comes altered during the audit is not mended by another one")
    func alteredMeanwhile() throws {
        let stage = try AuditStage()
        try stage.grantMeanwhile {
            PlantedInconsistency.changed(.granted) { record in
                InputRecord(
                    origin: record.origin, key: record.key, value: Array("{}".utf8), headers: record.headers,
                    timestamp: record.timestamp)
            }(stage)
        }
        let report = try stage.audit()
        #expect(report.words == ["event_altered 1"])
        #expect(report.inconsistencies.first?.place?.topic == "purchases.granted")
        #expect(report.mendable == [])
    }

    @Test("A record without a row is named by what its subject says", arguments: [Topic.granted, .failed])
    func subjects(_ topic: Topic) throws {
        let stage = try AuditStage()
        let id = "0b7d9a52-0000-5000-8000-000000000001"
        for headers in [[RecordHeader("ce_id", id)], []] {
            stage.topics.append(
                topic, key: nil, value: nil, headers: headers + [RecordHeader("ce_subject", "2001")], at: stage.now)
        }
        let found = try stage.audit().inconsistencies
        #expect(found.map(\.kind) == [.eventWithoutRow, .eventWithoutRow])
        #expect(found.map(\.submissionID) == Array(repeating: topic == .failed ? "2001" : nil, count: 2))
        #expect(found.map(\.transactionID) == Array(repeating: topic == .granted ? "2001" : nil, count: 2))
    }

    @Test("An inconsistency names what a person needs to find it")
    func names() throws {
        let stage = try AuditStage()
        try stage.grant("x1", "2001", isTold: false)
        let found = try #require(try stage.audit().inconsistencies.first)
        #expect(found.app == AuditStage.app)
        #expect(found.submissionID == "x1")
        #expect(found.userID == "player-1")
        #expect(found.transactionID == "2001")
        #expect(
            found.mend
                == .event(.granted(GrantReference(environment: .production, transactionID: "2001"), repeatOf: nil)))
    }
}
