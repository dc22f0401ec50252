/// How a worker treats a service of Apple's that is in trouble.
public struct AvailabilityPolicy: Hashable, Sendable {
    /// When calls stop, and how they begin again.
    public var breaker = BreakerPolicy()
    /// How many calls at once each target is given.
    public var concurrency = ConcurrencyPolicy()
    /// How many of the calls may be retries.
    public var retries = RetryBudgetPolicy()
    /// Share of the window that may be filled while nothing of what is asked of Apple can be: enough to begin with when
    /// it is back, and the rest is better off in Kafka than here.
    public var windowShare = 0.25

    /// The defaults.
    public init() {}
}
