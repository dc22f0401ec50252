import Ledger
import Logging
import Purchases
import Testing

@testable import Fulfillment

@Suite("Publishing, with a broker that takes its time", .timeLimit(.minutes(5)))
struct PublisherTests {
    private static let other: WorkerID = "other"

    private let clock = VirtualClock()
    private let folder: TemporaryFolder
    private let ledger: SQLiteLedger
    private let flaky: FlakyLedger
    private let log = RecordingLog()

    /// Three events wait.
    init() async throws {
        folder = try TemporaryFolder()
        ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.path("ledger.db"), migrate: true),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        flaky = FlakyLedger(ledger, clock: clock)
        let settlements = (1...3).map { number in
            let id = SubmissionID("s-\(number)")
            return Settlement(
                claimant: Claimant(submissionID: id, userID: UserID("u-\(number)"), bundleID: "com.example.game"),
                fingerprint: id.rawValue, origin: Origin(topic: "receipts.submitted", partition: 0, offset: 0),
                receivedAt: clock.now(), attempts: 1, decision: .fail(Rejection(.unknownProduct, "None.")))
        }
        _ = try await ledger.settle(settlements, quarantines: [], now: clock.now())
    }

    private func publisher(_ sink: SlowSink) -> Publisher {
        Publisher(
            ledger: flaky, sink: sink, worker: "first", clock: clock, randomness: FixedRandomness(),
            backoff: Backoff(base: .milliseconds(200), cap: .seconds(30)), metrics: PipelineMetrics(),
            logger: log.logger)
    }

    /// Runs a publisher until it has done all there is, or is told to end. While it runs the ledger is looked at every second.
    ///
    /// - Parameter look: says whether the publisher is told to end now.
    private func run(
        _ publisher: Publisher, _ look: @escaping @Sendable (_ elapsed: Duration) async throws -> Bool
    ) async throws {
        let handover = Handover()
        handover.finish()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: clock.executor) { try await publisher.run(handover) }
            group.addTask(executorPreference: clock.executor) {
                // Cancelled when the publisher has ended.
                do { while true { try await clock.sleep(for: .seconds(1)) } } catch {}
            }
            group.addTask {
                repeat {
                    await clock.step()
                    await clock.stillness()
                } while try await !look(clock.elapsed()) && !Task.isCancelled
            }
            // The publisher, or whoever tells it to end.
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// What another worker begins with that asks for the relay now.
    private func turnOfAnother() async throws -> RelayTurn? {
        try await ledger.takeRelay(Self.other, for: .seconds(600), now: clock.now())
    }

    @Test(
        "keeps the relay for as long as the broker takes, and notes what it took and what it did not",
        arguments: [0, 1])
    func slowOffer(lostNotes: Int) async throws {
        flaky.fail(before: lostNotes, after: 0)
        let sink = SlowSink(clock) { $0 == 0 ? (.seconds(35), [true, false, true]) : (.zero, [false]) }
        let looks = Shared(0)
        try await run(publisher(sink)) { elapsed in
            guard elapsed < .seconds(35) else { return false }
            looks.change { $0 += 1 }
            let turn = try await turnOfAnother()
            #expect(turn == nil, "after \(elapsed)")
            return false
        }
        #expect(looks.value > 30)
        let turn = try #require(try await turnOfAnother())
        #expect(turn.publishedThrough == 3)
        #expect(turn.withheld.map(\.sequence) == [2])
        #expect(sink.offered.value.map(\.count) == [3, 1], "what was acknowledged is not offered again")
    }

    @Test("leaves all to the worker that took the relay, where the ledger was away for as long as the lease")
    func lost() async throws {
        flaky.fail(before: .max, after: 0)
        let sink = SlowSink(clock) { _ in (.seconds(35), [true, false, true]) }
        let taken = Shared(Duration?.none)
        try await run(publisher(sink)) { elapsed in
            if taken.value == nil, try await turnOfAnother() != nil {
                taken.change { $0 = elapsed }
                let note = RelayNote(through: 1)
                #expect(try await ledger.published(note, by: Self.other, for: .seconds(600), now: clock.now()))
                flaky.fail(before: 0, after: 0)
            }
            return false
        }
        let moment = try #require(taken.value)
        #expect(moment >= Publisher.lease)
        #expect(log.lines.contains { $0.message.hasPrefix("Another worker publishes now") })
        let turn = try #require(try await turnOfAnother())
        #expect(turn == RelayTurn(publishedThrough: 1, withheld: []))
        #expect(sink.offered.value.count == 1)
    }

    @Test("does not keep the relay for ever for a sink that never answers")
    func noAnswer() async throws {
        let taken = Shared(Duration?.none)
        let sink = SlowSink(clock) { _ in (.seconds(1_000_000), []) }
        try await run(publisher(sink)) { elapsed in
            guard try await turnOfAnother() != nil else { return false }
            taken.change { $0 = elapsed }
            return true
        }
        let moment = try #require(taken.value)
        #expect(moment > Publisher.maxOffer && moment <= Publisher.maxOffer + Publisher.lease * 2)
    }

    @Test("ends an offer at once when it is told to, and leaves the relay with nothing noted that was not acknowledged")
    func cancelled() async throws {
        let sink = SlowSink(clock) { _ in (.seconds(1_000_000), []) }
        try await run(publisher(sink)) { $0 > Publisher.lease }
        #expect(clock.elapsed() < .seconds(20))
        let turn = try #require(try await turnOfAnother(), "the relay is free")
        #expect(turn == RelayTurn(publishedThrough: 0, withheld: []))
    }
}

/// Answers after a time, each offer in its way; at once and with nothing when it is cancelled.
private final class SlowSink: EventSink {
    /// What was offered, in order.
    let offered = Shared([[Event]]())
    private let clock: VirtualClock
    private let answer: @Sendable (_ offer: Int) -> (after: Duration, acknowledged: [Bool])

    init(
        _ clock: VirtualClock,
        _ answer: @escaping @Sendable (_ offer: Int) -> (after: Duration, acknowledged: [Bool])
    ) {
        self.clock = clock
        self.answer = answer
    }

    func publish(_ events: [Event]) async -> [Bool] {
        let (time, acknowledged) = answer(offered.value.count)
        offered.change { $0.append(events) }
        do { try await clock.sleep(for: time) } catch { return events.map { _ in false } }
        return acknowledged
    }
}
