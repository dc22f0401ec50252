import Contract
import Ledger
import Testing

@testable import Processing

@Suite("A submission that is decided where it is read")
struct SignedWayTests {
    private let bench = CoreBench()

    @Test("is checked, written, told, and then its offset is checkpointed and committed")
    func whole() throws {
        let assignment = try bench.own()
        let check = try #require(bench.read(0, in: assignment).first)
        bench.conclude(check, Fixture.verified("t1"))
        let batch = try bench.written(.written(.granted(created: 1), publish: [Fixture.rendered("t1")]))
        #expect(batch.decisions.map(\.content) == [.grant([Fixture.purchase("t1")], by: .signedTransaction)])
        #expect(batch.decisions.map(\.attempts) == [1])

        let publish = try #require(bench.takePublishes().first)
        #expect(publish.event == Fixture.rendered("t1").event)
        bench.wait(.seconds(3))
        #expect(bench.requests.isEmpty, "nothing is checkpointed before the broker has the event")
        bench.published(publish)
        #expect(bench.core.inFlight == 0)
        #expect(try bench.checkpointed().map(\.next) == [1])
        #expect(bench.takeCommits() == [CommittedOffset(partition: Fixture.partition, offset: 1)])
    }

    @Test("fails where it is rejected, with an event")
    func rejected() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        let rejection = Rejection(.signatureInvalid, "The signature does not verify.")
        bench.conclude(check, .rejected(rejection))
        let batch = try bench.written(.written(.failed(reason: "signature_invalid"), publish: [Fixture.rendered("f")]))
        #expect(batch.decisions.map(\.content) == [.fail(rejection)])
        #expect(bench.takePublishes().count == 1)
    }

    @Test("waits for no reply of Apple's where its signature is of a time to come")
    func signedAhead() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, .retry(.signedAhead, notBefore: bench.wall.advanced(by: .seconds(600))))
        let batch = try bench.written(.written(.retrying(.signedAhead), publish: []))
        guard case .wait(let entry)? = batch.decisions.first?.content else {
            Issue.record("it does not wait")
            return
        }
        #expect(entry.cause.endpoint == Endpoint(.serverAPI, .production), "no app's: nobody asks it")
    }

    @Test("fails where it is malformed")
    func malformed() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        let record = InputRecord(
            origin: Fixture.origin(0), key: nil,
            value: Array(#"{"submissionId":"s","userId":"u","bundleId":7}"#.utf8), timestamp: nil)
        guard case .malformed(let malformed) = SubmissionReading(record, now: bench.wall) else {
            Issue.record("a bundle id that is a number is malformed")
            return
        }
        bench.send(.checked([Checked(token: check.token, result: .malformed(malformed))]))
        let batch = try bench.written(.written(.failed(reason: "malformed_submission"), publish: []))
        #expect(batch.decisions.map(\.content) == [.fail(malformed.rejection)])
        #expect(bench.core.inFlight == 0)
    }

    @Test("goes to the quarantine topic where nothing can be read, without the ledger")
    func unreadable() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        let record = Fixture.record(0)
        let event = QuarantinedEvent.event(of: record, reason: "no JSON")
        let stub = QuarantineStub(of: record, reason: "no JSON")
        bench.send(.checked([Checked(token: check.token, result: .unreadable(event, stub, .notJSON))]))
        bench.wait(.milliseconds(10))
        #expect(bench.writes.isEmpty)
        let publish = try #require(bench.takePublishes().first)
        #expect(publish.event == event)
        bench.published(publish)
        #expect(try bench.checkpointed().map(\.next) == [1])
    }

    /// Reads a record that holds no submission.
    private func quarantine() throws -> (task: PublishTask, stub: QuarantineStub) {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        let stub = QuarantineStub(of: Fixture.record(0), reason: "no JSON")
        let event = QuarantinedEvent.event(of: Fixture.record(0), reason: "no JSON")
        bench.send(.checked([Checked(token: check.token, result: .unreadable(event, stub, .notJSON))]))
        return (try #require(bench.takePublishes().first), stub)
    }

    @Test("is quarantined again and again until the topic takes its record, which no offset passes before")
    func quarantinedAgain() throws {
        let (task, _) = try quarantine()
        for _ in 0..<3 {
            bench.published(task, .failed, cause: "no such topic")
            bench.wait(.seconds(1))
            #expect(bench.takePublishes().map(\.event) == [task.event])
        }
        #expect(bench.requests.isEmpty && bench.takeCommits().isEmpty)
        #expect(bench.takeAlerts().contains(.eventsNotTaken(.quarantined, cause: "no such topic")))
        bench.published(task)
        #expect(try bench.checkpointed().map(\.next) == [1])
    }

    @Test("owes its quarantined record as a stub once the topic has not taken it for five minutes")
    func quarantineWait() throws {
        let (task, stub) = try quarantine()
        bench.wait(Publisher.quarantineWait)
        bench.published(task, .failed, cause: "no such topic")
        let (_, entries) = try #require(bench.takeRequest { if case .owe(let entries) = $0 { entries } else { nil } })
        #expect(entries.map(\.stub) == [stub])
    }

    @Test("leaves with its record that the quarantine topic does not take once its partition is gone")
    func quarantineRevoked() throws {
        let (task, _) = try quarantine()
        bench.published(task, .failed)
        bench.send(.revoked([Fixture.partition]))
        bench.wait(.seconds(1))
        #expect(bench.core.inFlight == 0 && bench.takePublishes().isEmpty, "the next owner quarantines it")
    }

    @Test("owes its quarantined record as a stub where that is too large for the topic")
    func stub() throws {
        let (task, stub) = try quarantine()
        bench.published(task, .tooLarge, cause: "too large")
        #expect(!bench.takeAlerts().contains(.eventsNotTaken(.quarantined, cause: "too large")))
        let (_, entries) = try #require(bench.takeRequest { if case .owe(let entries) = $0 { entries } else { nil } })
        #expect(entries.map(\.key) == [stub.outboxKey])
        #expect(entries.map(\.stub) == [stub])
    }

    @Test("is complete at once where nothing is to be told: its fulfilment call is owed in the outbox")
    func owesCall() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.isNothingDue = false
        bench.conclude(check, Fixture.verified("t1"), options: DecisionOptions(owesCall: true))
        let batch = try bench.written(.written(.granted(created: 1), publish: []))
        #expect(batch.decisions.map(\.owesCall) == [true])
        #expect(bench.core.inFlight == 0)
        let taken = bench.takeRequest { if case .takeOutbox(let list) = $0 { list } else { nil } }
        #expect(taken?.content.map(\.target).contains(.service(Fixture.app)) == true)
    }

    @Test("is complete when the last of its events is acknowledged, and not before")
    func severalEvents() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, .verified([Fixture.purchase("a"), Fixture.purchase("b")], by: .signedTransaction))
        try bench.written(
            .written(.granted(created: 2), publish: [Fixture.rendered("a"), Fixture.rendered("b")]))
        let publishes = bench.takePublishes()
        try #require(publishes.count == 2)
        bench.published(publishes[1])
        bench.wait(.seconds(3))
        #expect(bench.requests.isEmpty)
        bench.published(publishes[0])
        #expect(try bench.checkpointed().map(\.next) == [1])
    }

    @Test("is told to people where it fails for an app that the apps file lacks")
    func missingApp() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, .rejected(Rejection(.unknownApp, "No such app.")))
        try bench.written(.written(.failed(reason: "unknown_app"), publish: []))
        #expect(bench.takeAlerts() == [.appMissing(Fixture.app, submissions: 1, example: "s0")])
    }

    @Test("does not let the offset pass a record before it that is not complete")
    func contiguous() throws {
        let checks = bench.read(0, 1, 2, in: try bench.own())
        for check in checks.dropFirst() {
            bench.conclude(check, .rejected(Rejection(.unknownApp, "No such app.")))
            try bench.written(.written(.failed(reason: "unknown_app"), publish: []))
        }
        bench.wait(.seconds(3))
        #expect(bench.takeCommits().isEmpty)
        bench.conclude(checks[0], .rejected(Rejection(.unknownApp, "No such app.")))
        try bench.written(.written(.failed(reason: "unknown_app"), publish: []))
        #expect(try bench.checkpointed().map(\.next) == [3])
    }

    @Test("is written again, with the same time, where it is not known whether it was written")
    func unknownCommit() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        bench.wait(WriteBatcher.mostPause)
        let first = try #require(bench.takeWrites().first)
        bench.send(.written(first.id, .failure(.unavailable(detail: "gone"))))
        #expect(bench.takeAlerts() == [.ledgerUnavailable(detail: "gone")])
        bench.wait(.seconds(10))
        let second = try #require(bench.takeWrites().first)
        #expect(second.id != first.id)
        #expect(second.decisions == first.decisions)
        bench.send(.written(second.id, .success([.written(.redelivery, publish: [])])))
        #expect(bench.takeAlerts() == [.ledgerAvailable(after: .seconds(10))])
    }

    @Test("is written again where a key was refused and nobody holds it visibly")
    func undecided() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        let first = try bench.written(.undecided)
        #expect(bench.takeWrites().isEmpty, "the other transaction is given a moment")
        bench.wait(.milliseconds(20))
        let second = try bench.written(.written(.redelivery, publish: []))
        #expect(second.decisions == first.decisions)
        #expect(bench.core.inFlight == 0)
    }

    @Test("is held where the ledger refuses its data")
    func refused() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.refused(detail: "a date out of range"))
        #expect(bench.takeAlerts() == [.decisionRefused(Fixture.origin(0), detail: "a date out of range")])
        let batch = try bench.written(.written(.held(.decisionRefused), publish: []))
        guard case .wait(let entry) = try #require(batch.decisions.first).content else {
            Issue.record("it is held")
            return
        }
        #expect(entry.cause == .held(.decisionRefused))
        #expect((60_000...300_000).contains(entry.delay))
        #expect(bench.core.inFlight == 0)
    }

    @Test("is held where the ledger says so, for the cause that it names", arguments: HoldCause.allCases)
    func toBeHeld(cause: HoldCause) throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.toBeHeld(cause, detail: "It says so."))
        let batch = try bench.written(.written(.held(cause), publish: []))
        guard case .wait(let entry) = try #require(batch.decisions.first).content else {
            Issue.record("it is held")
            return
        }
        #expect(entry.cause == .held(cause))
        #expect(entry.detail == "It says so.")
        #expect((60_000...300_000).contains(entry.delay))
        #expect(bench.core.inFlight == 0)
    }

    @Test("is quarantined as a stub where the ledger cannot even hold it")
    func refusedTwice() throws {
        let check = try #require(bench.read(0, in: try bench.own()).first)
        bench.conclude(check, Fixture.verified("t1"))
        try bench.written(.refused(detail: "bad"))
        try bench.written(.refused(detail: "bad"))
        let publish = try #require(bench.takePublishes().first)
        #expect(publish.event.topic == .quarantined)
        bench.published(publish)
        #expect(bench.core.inFlight == 0)
    }
}
