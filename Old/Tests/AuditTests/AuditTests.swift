import Audit
import Ledger
import LedgerConformance
import Purchases
import Testing

@Suite("An audit of a deployment", .timeLimit(.minutes(5)))
struct AuditTests {
    private func finding(_ report: AuditReport, _ invariant: Invariant) throws -> Finding {
        try #require(report.findings.first { $0.invariant == invariant })
    }

    @Test("has a finding on each invariant, in order")
    func findings() async throws {
        let report = try await Deployment().audit(drained: true)
        #expect(report.findings.map(\.invariant) == Invariant.allCases)
        #expect(report.passed)
        #expect(try finding(report, .nothingParkedIsForgotten).verdict == .holds)
    }

    @Test("does not ask for completeness unless it is told that all is done")
    func notAsked() async throws {
        let report = try await Deployment().audit(drained: false)
        #expect(
            report.findings.filter { $0.verdict == .notAsked }.map(\.invariant)
                == [.everyRecordHasFate, .everythingIsThere, .quantitiesMatch])
    }

    @Test("takes nothing for a violation that a worker does while it reads")
    func meanwhile() async throws {
        let deployment = try await Deployment()
        for _ in 0..<20 { try await deployment.play() }
        deployment.meanwhile { deployment in
            for _ in 0..<3 { try await deployment.play() }
        }
        let report = try await deployment.audit(drained: false)
        #expect(report.violated == [], "\(report.findings.flatMap(\.examples))")
        #expect(report.read.grants > 20, "the worker was at work")
        #expect(report.read.published < report.read.events, "the ledger was read last")
        #expect(try finding(report, .committedHasFate).checked == 20)
        #expect(try finding(report, .publishedIsThere).checked == 20)
    }

    @Test("counts what the topics no longer hold, and does not judge it")
    func retention() async throws {
        let deployment = try await Deployment()
        for _ in 0..<4 { try await deployment.play(at: Deployment.now) }
        for _ in 0..<2 { try await deployment.play(at: Deployment.now.advanced(by: .seconds(3600))) }
        deployment.forget("receipts.submitted", before: 4)
        deployment.forget("granted", before: 4)
        let report = try await deployment.audit(drained: true)
        #expect(report.violated == [], "\(report.findings.flatMap(\.examples))")
        for invariant in [Invariant.committedHasFate, .publishedIsThere, .everythingIsThere, .quantitiesMatch] {
            #expect(try finding(report, invariant).gone == 4, "\(invariant)")
        }
        #expect(try finding(report, .orderPerKey).gone == 2)
        #expect(try finding(report, .everythingIsThere).checked == 2)
    }

    @Test("does judge what the topics would still hold")
    func youngerThanRetention() async throws {
        let deployment = try await Deployment()
        try await deployment.play(at: Deployment.now)
        try await deployment.play(at: Deployment.now.advanced(by: .seconds(60)))
        deployment.forget("granted", before: 1)
        // Younger than what the topic holds, counted as published, and not there.
        _ = try await deployment.ledger.settle(
            [Samples.failure("lost"), Samples.grant("lost-too", Samples.purchase("99"))], quarantines: [],
            now: Deployment.now.advanced(by: .seconds(3600)))
        _ = try await deployment.ledger.published(
            RelayNote(through: 4), by: "w", for: .seconds(60), now: Deployment.now)
        let report = try await deployment.audit(drained: false)
        #expect(report.violated == [.publishedIsThere])
        #expect(try finding(report, .publishedIsThere).violations == 2)
        #expect(try finding(report, .publishedIsThere).gone == 1)
    }

    @Test("does not miss the event of a grant that is still to be delivered, until all is said to be done")
    func openDelivery() async throws {
        let deployment = try await Deployment()
        try await deployment.play(at: Deployment.now)
        _ = try await deployment.ledger.settle(
            [Samples.delivered("open", Samples.purchase("99"))], quarantines: [], now: Deployment.now)
        let running = try await deployment.audit(drained: false)
        #expect(running.violated == [], "\(running.findings.flatMap(\.examples))")
        #expect(try finding(running, .deliveredFirst).note == "1 deliveries are open")
        let drained = try await deployment.audit(drained: true)
        #expect(try finding(drained, .deliveredFirst).violations == 1)
        #expect(!drained.violated.contains(.outboxMatches))
    }

    @Test("counts what waits, and finds it once all is said to be settled", arguments: [true, false])
    func waiting(isParked: Bool) async throws {
        let deployment = try await Deployment()
        try await deployment.play()
        let settlement = isParked ? Samples.parked("waits") : Samples.held("waits")
        _ = try await deployment.ledger.settle([settlement], quarantines: [], now: Deployment.now)
        let running = try await deployment.audit(drained: false)
        #expect(running.violated == [], "\(running.findings.flatMap(\.examples))")
        #expect(running.read.parked == (isParked ? 1 : 0))
        #expect(running.read.held == (isParked ? 0 : 1))
        let drained = try await deployment.audit(drained: true)
        #expect(drained.violated == [.nothingParkedIsForgotten])
        #expect(
            try finding(drained, .nothingParkedIsForgotten).examples == [
                "submission waits of \(Samples.bundle) is \(isParked ? "parked" : "held"), and not settled yet"
            ])
    }

    @Test("does not say that offsets are right of a group that has none, though there are records")
    func strangersGroup() async throws {
        let deployment = try await Deployment()
        deployment.loseOffsets()
        #expect(try finding(try await deployment.audit(drained: true), .committedHasFate).verdict == .holds)
        try await deployment.play()
        deployment.loseOffsets()
        let report = try await deployment.audit(drained: true)
        #expect(report.violated == [])
        for invariant in [Invariant.committedHasFate, .committedIsContiguous] {
            #expect(try finding(report, invariant).verdict == .notApplicable)
        }
        #expect(
            try finding(report, .committedHasFate).note
                == "the group has no committed offset on receipts.submitted; is it the workers' group?")
    }

    @Test("does not expect withheld events on their topics before all is done")
    func withheld() async throws {
        let deployment = try await Deployment()
        try await deployment.play()
        _ = try await deployment.ledger.settle([Samples.failure("s")], quarantines: [], now: Deployment.now)
        _ = try await deployment.ledger.published(
            RelayNote(through: 2, withhold: [2]), by: "w", for: .seconds(60), now: Deployment.now)
        #expect(try await deployment.audit(drained: false).violated == [])
        #expect(try await deployment.audit(drained: true).violated == [.everythingIsThere])
    }

    @Test("names strangers on the output topics, the first few of many")
    func strangers() async throws {
        let deployment = try await Deployment()
        deployment.write("granted", nil, [1], [], Deployment.now)
        for index in 0..<9 {
            deployment.write(
                "granted", nil, nil, [EventHeader("ce_id", "00000000-0000-5000-8000-00000000000\(index)")],
                Deployment.now)
        }
        let finding = try finding(try await deployment.audit(drained: false), .copiesMatch)
        #expect(finding.checked == 10)
        #expect(finding.violations == 10)
        #expect(
            finding.examples.prefix(2) == [
                "granted[0] offset 0 names no event",
                "granted[0] offset 1 tells of an event that the ledger does not have",
            ])
        #expect(finding.examples.count == Finding.maxExamples)
    }

    @Test("notes what is unusual and no violation")
    func notes() async throws {
        let deployment = try await Deployment()
        try await deployment.play()
        let event = try #require(try await deployment.ledger.events(after: 0, limit: 1).first?.event)
        deployment.publish(event)
        // The same id for another submission of another user, and a failure that a reused id turned into a grant.
        _ = try await deployment.ledger.settle(
            [
                Samples.grant("a", user: "alice", Samples.purchase("50")),
                Samples.grant("a", user: "bob", content: "second", Samples.purchase("51")),
                Samples.failure("b"), Samples.grant("b", content: "second", Samples.purchase("52")),
            ], quarantines: [], now: Deployment.now)
        let report = try await deployment.audit(drained: false)
        #expect(report.violated == [], "\(report.findings.flatMap(\.examples))")
        #expect(try finding(report, .copiesMatch).note == "1 records are further copies")
        #expect(try finding(report, .oneOwner).note == "1 grants were made under submission ids that were used twice")
        #expect(
            try finding(report, .outboxMatches).note
                == "1 failed events are of submissions that are not failed any more")
    }
}
