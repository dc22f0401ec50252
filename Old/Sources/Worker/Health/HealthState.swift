/// One thing that has to be true for the worker to be well.
struct HealthCheck: Hashable, Sendable {
    /// A constant such as `ledger`: it is shown to whoever asks.
    let name: String
    let passed: Bool

    /// A check's result.
    init(_ name: String, passed: Bool) {
        self.name = name
        self.passed = passed
    }
}

/// What the worker knows of its own health. Asked at any time, from any thread; answers at once.
protocol HealthState: Sendable {
    /// Fails only if nothing but a restart helps.
    func liveness() -> [HealthCheck]
    /// Fails while the worker cannot do its work, whoever is at fault.
    func readiness() -> [HealthCheck]
}
