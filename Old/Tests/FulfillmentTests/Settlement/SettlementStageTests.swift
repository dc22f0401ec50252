import Ledger
import Logging
import Purchases
import Synchronization
import Testing

@testable import Fulfillment

@Suite("Settlement")
struct SettlementStageTests {
    @Test("While many fates come the next transaction waits for the beat", arguments: [(249, 0), (250, 1)])
    func paced(fates: Int, pauses: Int) async throws {
        #expect(try await Self.pauses(after: fates, stopping: false) == pauses)
    }

    @Test("A worker that stops settles without a pause")
    func stopping() async throws {
        #expect(try await Self.pauses(after: 250, stopping: true) == 0)
    }

    /// How often the stage slept.
    private static func pauses(after fates: Int, stopping: Bool) async throws -> Int {
        let folder = try TemporaryFolder()
        let logger = Logger(label: "test")
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.path("ledger.db"), migrate: true), logger: logger)
        let clock = CountingClock()
        let parts = PipelineParts.alone(clock, logger)
        if stopping { parts.stopping.raise() }
        let stage = SettlementStage(
            parts: parts,
            settler: Settler(
                ledger: ledger, clock: clock, randomness: FixedRandomness(), backoff: .ledger,
                metrics: parts.metrics, logger: logger, answers: parts.ledgerAnswers),
            source: FakeSource())
        for _ in 0..<500 { parts.window.admit(bytes: 0) }
        parts.settled.put((0..<fates).map(unreadable))
        parts.settled.finish()
        try await stage.run()
        #expect(try await ledger.counts().quarantined == fates)
        return clock.sleeps
    }

    private static func unreadable(_ number: Int) -> Settled {
        Settled(
            ticket: nil, weight: 0,
            fate: .quarantine(
                Quarantine(
                    origin: Origin(topic: "t", partition: 0, offset: Int64(number)), reason: "r",
                    event: Event(
                        id: EventID(NameBasedUUID.text(namespace: NameBasedUUID.events, name: "\(number)")),
                        kind: .quarantined, key: nil, headers: [], value: []))))
    }
}

/// Stands still a tenth of a second after the start, and counts who sleeps.
private final class CountingClock: WorkerClock {
    private let count = Atomic(0)

    var sleeps: Int { count.load(ordering: .relaxed) }

    func now() -> Timestamp { Timestamp(milliseconds: 1_795_255_200_000) }
    func elapsed() -> Duration { .milliseconds(100) }
    func sleep(for duration: Duration) async throws(CancellationError) { count.add(1, ordering: .relaxed) }
}
