import Audit
import Fulfillment
import GRDB
import Ledger
import Logging
import Purchases
import Testing

/// Proves the judge: each mistake that a pipeline or a ledger could make is planted, by what stands around them, and the audit
/// must say what is wrong, and nothing else.
@Suite("An audit", .timeLimit(.minutes(5)))
struct PlantedBugTests {
    typealias Seams = PipelineBench.Seams

    /// Two purchases of Ann's, one of them claimed again by her and by a thief, a repeated record, and two unreadable ones.
    private func play(_ seams: Seams = Seams(), isPublishing: Bool = true) async throws -> PipelineBench {
        let bench = try await PipelineBench(seams: seams)
        let first = PipelineBench.message("s-1", user: "ann", receipt: try bench.appStore.receipt().base64)
        let evidence = try bench.appStore.receipt().base64
        let claimed = PipelineBench.message("s-2", user: "ann", receipt: evidence)
        let wave: [[UInt8]?] = [first, claimed, nil, Array("{ no".utf8)]
        let second = [
            PipelineBench.message("s-3", user: "ann", receipt: evidence),
            PipelineBench.message("s-4", user: "thief", receipt: evidence), claimed,
        ]
        bench.source.write(wave)
        try await bench.run { bench in
            guard bench.pipeline.status.settledRecords >= bench.source.records.count else { return false }
            if isPublishing, try await bench.ledger.counts().unpublished > 0 { return false }
            guard bench.source.records.count == wave.count else { return true }
            bench.source.write(second)
            return false
        }
        return bench
    }

    /// Changes the ledger as a broken program would have left it.
    private func change(_ bench: PipelineBench, _ sql: String) throws {
        let database = try DatabaseQueue(path: try #require(bench.path))
        try database.inDatabase { try $0.execute(sql: sql) }
        try database.close()
    }

    @Test("finds nothing where nothing is wrong, and looks at everything")
    func clean() async throws {
        let bench = try await play()
        for isDrained in [true, false] {
            let report = try await bench.audit(drained: isDrained)
            #expect(report.violated == [], "\(report.findings.flatMap(\.examples))")
            let checked = report.findings.filter { $0.checked > 0 }.map(\.invariant)
            #expect(
                checked
                    == Invariant.allCases.filter {
                        // Nothing is parked here, and the app has no inventory service.
                        ![Invariant.nothingParkedIsForgotten, .deliveredFirst].contains($0)
                            && (isDrained || !$0.isAtQuiescence)
                    })
        }
        let report = try await bench.audit(drained: true)
        #expect(report.read.submitted == 7)
        #expect(report.read.grants == 2)
        #expect(report.read.submissions == 4)
        #expect(report.read.quarantined == 2)
        #expect(report.read.events == 5)
        #expect(report.findings.allSatisfy { $0.gone == 0 })
    }

    @Test("finds nothing while a worker is in the middle of its work")
    func running() async throws {
        let report = try await atWork(Seams()) { $0.pipeline.status.settledRecords == 2 }
        #expect(report.violated == [], "\(report.findings.flatMap(\.examples))")
    }

    @Test("finds an offset that is committed before its record has a fate")
    func commitBeforeFate() async throws {
        let seams = Seams(source: { MistakenSource(source: $0, mistake: .commitsOnReading) })
        let report = try await atWork(seams) { $0.source.committed == 3 }
        #expect(report.violated == [.committedHasFate, .committedIsContiguous])
    }

    @Test("finds an offset that is one too far")
    func offByOne() async throws {
        let seams = Seams(source: { MistakenSource(source: $0, mistake: .countsOneTooMany) })
        let report = try await atWork(seams) { $0.source.committed == 2 }
        #expect(report.violated == [.committedHasFate, .committedIsContiguous])
        #expect(
            report.findings.first { $0.invariant == .committedHasFate }?.examples == [
                "receipts.submitted[0] offset 1 has no fate"
            ])
    }

    /// Looks at a worker whose second of three records waits for Apple.
    private func atWork(
        _ seams: Seams, when isTime: @escaping @Sendable (PipelineBench) -> Bool
    ) async throws -> AuditReport {
        let gate = Gate()
        let bench = try await PipelineBench(gate: gate, seams: seams)
        bench.source.write([nil, PipelineBench.message("slow", receipt: try bench.appStore.receipt().base64), nil])
        let report = Kept<AuditReport>()
        try await bench.run { bench in
            guard bench.appStore.calls == 1, isTime(bench) else { return false }
            report.value = try await bench.audit(drained: false)
            gate.open()
            return true
        }
        return try #require(report.value)
    }

    @Test("finds events that were published and are not in the ledger")
    func publishedWithoutOutbox() async throws {
        let folder = try TemporaryFolder()
        let lost = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.path("lost.db"), migrate: true), logger: Logger(label: "lost"))
        let seams = Seams(ledger: { MistakenLedger(ledger: $0, mistake: .loses(into: lost)) })
        let bench = try await PipelineBench(seams: seams)
        bench.source.write([PipelineBench.message("s", receipt: try bench.appStore.receipt().base64)])
        try await bench.run { !$0.sink.events.isEmpty && $0.source.committed == 1 }
        let report = try await bench.audit(drained: false)
        #expect(report.violated == [.committedHasFate, .committedIsContiguous, .copiesMatch])
    }

    @Test("finds an event that counts as published before the broker reported it")
    func publishedBeforeReport() async throws {
        let bench = try await play(Seams(sink: { MistakenSink($0, .believesBeforeTheReport) }))
        #expect(try await bench.audit(drained: false).violated == [.publishedIsThere])
        #expect(
            try await bench.audit(drained: true).violated
                == [.publishedIsThere, .everythingIsThere, .quantitiesMatch])
    }

    @Test("finds copies that are not the same to the last byte")
    func alteredCopy() async throws {
        let bench = try await play(Seams(sink: { MistakenSink($0, .writesCopiesAnew) }))
        #expect(try await bench.audit(drained: true).violated == [.copiesMatch])
    }

    @Test("finds events of one user that came out of order")
    func outOfOrder() async throws {
        let bench = try await play(Seams(sink: { MistakenSink($0, .sendsOutOfOrder) }))
        #expect(try await bench.audit(drained: true).violated == [.orderPerKey])
    }

    @Test("finds events that nobody was woken up to publish, once they should be there")
    func lostWakeUp() async throws {
        let bench = try await play(
            Seams(ledger: { MistakenLedger(ledger: $0, mistake: .losesWakeUps) }), isPublishing: false)
        #expect(try await bench.audit(drained: false).violated == [])
        #expect(try await bench.audit(drained: true).violated == [.everythingIsThere, .quantitiesMatch])
    }

    @Test("finds a record that nobody read, once all should be read")
    func unread() async throws {
        let bench = try await play()
        bench.source.write([PipelineBench.message("late", receipt: try bench.appStore.receipt().base64)])
        #expect(try await bench.audit(drained: false).violated == [])
        #expect(try await bench.audit(drained: true).violated == [.everyRecordHasFate])
    }

    @Test("finds a quarantined record that is not what came in")
    func cutQuarantine() async throws {
        let bench = try await play(Seams(ledger: { MistakenLedger(ledger: $0, mistake: .cutsQuarantined) }))
        #expect(try await bench.audit(drained: true).violated == [.quarantineIsUntouched])
    }

    @Test("finds a parked submission that nothing brings back, and an answered one that comes back all the same")
    func lostDueTime() async throws {
        let bench = try await play()
        let waiting = Waiting(
            .parked(.noAnswer), detail: "HTTP 503.",
            submission: Submission(
                id: "s-5", userID: "ann", bundleID: "com.example.game", evidence: .receipt(base64: "AAAA")),
            delay: .seconds(60), doubtSince: nil)
        let moment = Timestamp(milliseconds: 1_795_255_200_000)
        _ = try await bench.ledger.settle(
            [
                Settlement(
                    claimant: Claimant(submissionID: "s-5", userID: "ann", bundleID: "com.example.game"),
                    fingerprint: "f", origin: Origin(topic: "elsewhere", partition: 0, offset: 0), receivedAt: moment,
                    attempts: 4, history: AttemptHistory(), decision: .wait(waiting))
            ], quarantines: [], now: moment)
        #expect(try await bench.audit(drained: false).violated == [])
        #expect(try await bench.audit(drained: true).violated == [.nothingParkedIsForgotten], "it waits")
        let s1 = "(SELECT sequence FROM submissions WHERE submission_id = 's-1')"
        try change(bench, "UPDATE waiting SET sequence = \(s1)")
        for (isDrained, violations) in [(false, 2), (true, 3)] {
            let report = try await bench.audit(drained: isDrained)
            #expect(report.violated == [.nothingParkedIsForgotten])
            #expect(report.findings.first { $0.invariant == .nothingParkedIsForgotten }?.violations == violations)
        }
    }

    @Test(
        "finds what a ledger must never hold",
        arguments: [
            Damage(
                "a grant key that is not unique",
                """
                DROP TRIGGER grants_stay_as_they_are; CREATE TABLE copy AS SELECT * FROM grants; DROP TABLE grants;
                ALTER TABLE copy RENAME TO grants; INSERT INTO grants SELECT * FROM grants LIMIT 1;
                UPDATE grants SET sequence = rowid;
                """, [.grantedOnce]),
            Damage(
                "a grant key without its environment",
                """
                DROP TRIGGER grants_stay_as_they_are;
                UPDATE grants SET grant_key = substr(grant_key, instr(grant_key, ':') + 1);
                """, [.grantedOnce, .oneKindOfAnswer, .outboxMatches]),
            Damage(
                "a grant whose event was dropped when it turned out to be a duplicate",
                """
                PRAGMA foreign_keys = OFF;
                DELETE FROM outbox WHERE event_id = (SELECT event_ids FROM submissions WHERE submission_id = 's-3');
                """, [.outboxMatches, .copiesMatch, .quantitiesMatch]),
            Damage(
                "a submission that was answered with somebody else's grant",
                "UPDATE submissions SET user_id = 'eve' WHERE submission_id = 's-3'", [.oneOwner]),
            Damage(
                "a submission that was granted and failed",
                """
                UPDATE submissions SET event_ids = CAST(event_ids
                    || (SELECT event_ids FROM submissions WHERE submission_id = 's-4') AS BLOB)
                WHERE submission_id = 's-3'
                """, [.oneKindOfAnswer]),
            Damage(
                "a fate that is gone", "DELETE FROM submissions WHERE submission_id = 's-3'",
                [.committedHasFate, .committedIsContiguous, .everyRecordHasFate]),
            Damage(
                "a grant that differs from what was told",
                "DROP TRIGGER grants_stay_as_they_are; UPDATE grants SET quantity = 7",
                [.outboxMatches, .quantitiesMatch]),
        ])
    func damage(damage: Damage) async throws {
        let bench = try await play()
        try change(bench, damage.sql)
        let report = try await bench.audit(drained: true)
        #expect(report.violated == damage.expected, "\(report.findings.flatMap(\.examples))")
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let expected: [Invariant]

        init(_ testDescription: String, _ sql: String, _ expected: [Invariant]) {
            (self.testDescription, self.sql, self.expected) = (testDescription, sql, expected)
        }
    }
}
