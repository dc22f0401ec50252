/// Capped exponential backoff with full jitter: a delay evenly drawn from zero up to a ceiling that doubles.
///
/// Full jitter spreads a crowd that failed together over the whole interval (AWS Architecture Blog, "Exponential
/// Backoff And Jitter"). With the default base of 200 ms the ceilings are 0.2, 0.4, 0.8, 1.6 ... 30 s.
public struct Backoff: Hashable, Sendable {
    /// Ceiling of the first delay.
    public let base: Duration
    /// No ceiling is higher.
    public let cap: Duration

    /// For what waits for the ledger. Its cap is what a worker may stand still for once the ledger is back; unlike Apple it is
    /// ours, and can bear that a few tasks of each worker ask every few seconds while it is away.
    static let ledger = Backoff(base: .milliseconds(200), cap: .seconds(5))

    /// A backoff by its first and its highest ceiling.
    public init(base: Duration, cap: Duration) {
        self.base = base
        self.cap = cap
    }

    /// The delay after so many failures (1 for the first).
    ///
    /// - Parameter unit: a random number in `0..<1`.
    func delay(afterFailures failures: Int, unit: Double) -> Duration {
        var ceiling = base
        for _ in 1..<max(1, min(failures, 64)) where ceiling < cap { ceiling = ceiling * 2 }
        return min(ceiling, cap) * unit
    }
}
