public import Purchases

/// Time as the pipeline sees it. Injected, so that a simulation can run a day in a second.
public protocol WorkerClock: Sendable {
    /// Wall-clock time: for what is written down, never for measuring.
    func now() -> Timestamp

    /// Time on a clock that only goes forward, from an arbitrary start: for measuring.
    func elapsed() -> Duration

    /// Returns after a duration, or early and throwing when the task is cancelled.
    func sleep(for duration: Duration) async throws(CancellationError)
}

/// Randomness as the pipeline uses it: jitter only, never a secret.
public protocol Randomness: Sendable {
    /// 64 bits, evenly distributed.
    func next() -> UInt64
}

extension Randomness {
    /// An evenly distributed number in `0..<1`.
    func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}
