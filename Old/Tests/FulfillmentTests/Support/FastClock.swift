import Fulfillment
import Purchases

/// A clock on which time passes a hundred times as fast, so that backoffs of seconds take milliseconds.
struct FastClock: WorkerClock {
    private static let speed = 100
    private let clock = ContinuousClock()
    private let start = ContinuousClock().now

    func now() -> Timestamp {
        Timestamp(milliseconds: 1_795_255_200_000).advanced(by: elapsed())
    }

    func elapsed() -> Duration {
        start.duration(to: clock.now) * Self.speed
    }

    func sleep(for duration: Duration) async throws(CancellationError) {
        do { try await clock.sleep(for: duration / Self.speed) } catch { throw CancellationError() }
    }
}

/// The same random numbers in every run of a process.
struct FixedRandomness: Randomness {
    func next() -> UInt64 { 1 << 63 }
}
