import Foundation
public import Purchases

/// The machine's own time.
public struct SystemClock: WorkerClock {
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    /// A clock whose elapsed time starts now.
    public init() {
        start = clock.now
    }

    public func now() -> Timestamp {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    public func elapsed() -> Duration {
        start.duration(to: clock.now)
    }

    public func sleep(for duration: Duration) async throws(CancellationError) {
        // The standard library's sleep throws nothing but cancellation, without saying so in its type.
        do { try await clock.sleep(for: duration) } catch { throw CancellationError() }
    }
}

/// The machine's own randomness.
public struct SystemRandomness: Randomness {
    /// Randomness from the operating system's generator.
    public init() {}

    public func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
