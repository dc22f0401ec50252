import Ledger
import Logging
import MetricsTestKit
import Purchases
import Synchronization
import Testing

@testable import Fulfillment

@Suite("Open deliveries are watched")
struct DeliveryWatchTests {
    private static let noon = Timestamp(milliseconds: 1_795_255_200_000)
    private static let open = DeliveryCounts(open: 30, firstDueAt: noon.advanced(by: .seconds(-90)))
    private static let none = DeliveryCounts(open: 0, firstDueAt: nil)

    /// Runs for as many counts as are given, and returns what was said and measured.
    private func watch(
        _ counts: [Result<DeliveryCounts, LedgerError>], isAnyServed: Bool
    ) async throws -> (lines: [RecordingLog.Line], metrics: TestMetrics) {
        let log = RecordingLog()
        let metrics = TestMetrics()
        let clock = SteppingClock(start: Self.noon, sleeps: counts.count - 1)
        let watch = DeliveryWatch(
            parts: .alone(clock, log.logger), room: ScriptedRoom(counts), isAnyServed: isAnyServed, metrics: metrics
        )
        try await watch.run()
        return (log.lines, metrics)
    }

    @Test("The gauges say what is open, also where no app has an inventory service", arguments: [true, false])
    func gauges(isAnyServed: Bool) async throws {
        let metrics = try await watch([.success(Self.none), .success(Self.open)], isAnyServed: isAnyServed).metrics
        #expect(try metrics.expectGauge("grantor_deliveries_open").values == [0, 30])
        // 90 s, and the 15 s between the counts.
        #expect(try metrics.expectGauge("grantor_delivery_overdue_seconds").values == [0, 105])
    }

    @Test("What nobody will tell of is said at the start, and then every five minutes")
    func unserved() async throws {
        // At 0, 15, ... 300 seconds.
        let lines = try await watch(Array(repeating: .success(Self.open), count: 21), isAnyServed: false).lines
        #expect(lines.map(\.level) == [.error, .error])
        #expect(lines.first?.message.hasPrefix("Deliveries are open and no app has an inventory service") == true)
        #expect(lines.map(\.metadata["overdueSeconds"]) == ["90", "390"])
        #expect(lines.map(\.metadata["deliveries"]) == ["30", "30"])
    }

    @Test("Nothing is said where somebody is told, or nothing is open", arguments: [(true, open), (false, none)])
    func quiet(isAnyServed: Bool, counts: DeliveryCounts) async throws {
        #expect(try await watch([.success(counts)], isAnyServed: isAnyServed).lines == [])
    }

    @Test("A ledger that is away is asked again")
    func away() async throws {
        let (lines, metrics) = try await watch(
            [.failure(.unavailable("away")), .success(Self.open)], isAnyServed: true)
        #expect(lines.map(\.level) == [.warning])
        #expect(try metrics.expectGauge("grantor_deliveries_open").values == [30])
    }

    @Test("What does not pass by waiting ends the watch")
    func damaged() async throws {
        await #expect(throws: LedgerError.damaged("x")) {
            try await watch([.failure(.damaged("x"))], isAnyServed: true)
        }
    }
}

/// Answers counts in their order, and nothing else.
private final class ScriptedRoom: DeliveryRoom {
    private let counts: Mutex<[Result<DeliveryCounts, LedgerError>]>

    init(_ counts: [Result<DeliveryCounts, LedgerError>]) { self.counts = Mutex(counts) }

    func deliveryCounts() async throws(LedgerError) -> DeliveryCounts {
        try counts.withLock { $0.removeFirst() }.get()
    }

    func takeDeliveries(
        _ worker: WorkerID, _ shares: [DeliveryShare], for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> [Delivery] { [] }

    func keepDeliveries(
        _ events: [EventID], _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) {}

    func report(
        _ reports: [DeliveryReport], _ worker: WorkerID, now: Timestamp
    ) async throws(LedgerError) -> [OutboxEntry]? { nil }
}

/// Time passes by as much as is slept; after so many sleeps the next one is cancelled.
private final class SteppingClock: WorkerClock {
    private let start: Timestamp
    private let state: Mutex<(elapsed: Duration, left: Int)>

    init(start: Timestamp, sleeps: Int) {
        self.start = start
        state = Mutex((.zero, sleeps))
    }

    func now() -> Timestamp { start.advanced(by: elapsed()) }
    func elapsed() -> Duration { state.withLock { $0.elapsed } }

    func sleep(for duration: Duration) async throws(CancellationError) {
        let isOver = state.withLock { state in
            guard state.left > 0 else { return true }
            state.left -= 1
            state.elapsed += duration
            return false
        }
        if isOver { throw CancellationError() }
    }
}
