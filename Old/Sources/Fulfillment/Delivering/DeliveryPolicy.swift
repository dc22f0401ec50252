/// How deliveries are tried again, and how many a worker holds.
public struct DeliveryPolicy: Hashable, Sendable {
    /// First tier, in memory: between the calls of the worker that settled.
    public var quickBackoff = Backoff(base: .milliseconds(200), cap: .seconds(2))
    /// Calls in memory after which a delivery goes back to the ledger.
    public var quickTries = 3
    /// Longest wait in memory that a service may ask for; for a longer one the delivery goes back to the ledger.
    public var quickWait: Duration = .seconds(5)
    /// In the ledger, until a delivery is due again.
    public var backoff = Backoff(base: .seconds(2), cap: .seconds(15 * 60))
    /// Longest wait in the ledger after a no that was said while the service was in trouble: it may have been about all.
    public var troubledWait: Duration = .seconds(60)
    /// Longest time for which one answer (429) may stop the calls for everybody. Its own delivery waits as long as it asks.
    public var longestStop: Duration = .seconds(60)
    /// When calls to a service stop, and how they begin again. It is ours and near, so more probes find out sooner: a burst of
    /// grants that it refuses must not keep it from the others for long.
    public var breaker: BreakerPolicy = {
        var policy = BreakerPolicy()
        policy.probes = 8
        policy.pause = Backoff(base: .seconds(1), cap: .seconds(2))
        return policy
    }()
    /// How many calls at once a service is given.
    public var concurrency = ConcurrencyPolicy()
    /// Most deliveries that a worker holds in memory; the others are due in the ledger.
    public var maxHeld = 4000
    /// Most of one service, for each call that it is given at once; half of all at most where there are several services.
    public var heldPerCall = 20
    /// Share of what may be held that settlement may fill. The rest is for what waits in the ledger, which would otherwise
    /// stand behind all that is new.
    public var settledShare = 0.75

    /// The defaults.
    public init() {}
}
