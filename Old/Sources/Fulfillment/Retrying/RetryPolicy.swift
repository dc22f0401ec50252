/// How submissions without an answer are tried again.
public struct RetryPolicy: Hashable, Sendable {
    /// First tier, in memory: between tries while Apple gives no answer.
    public var backoff = Backoff(base: .milliseconds(200), cap: .seconds(30))
    /// Tries in memory, while Apple answers others, after which a submission is parked in the ledger. A turn for which our
    /// own budget was spent is one of them here, though it counts nowhere else.
    public var memoryTries = 4
    /// Longest wait in memory for a moment that is known; for a later one the submission is parked.
    public var memoryWait: Duration = .seconds(5)
    /// Third tier, in the ledger: until a parked submission is due again.
    public var parkedBackoff = Backoff(base: .seconds(2), cap: .seconds(15 * 60))
    /// Until one is due again for which our own budget was spent: evenly over so long. It does not grow, because such a turn
    /// says nothing about the submission; whoever waits longest must not be asked for least often.
    public var budgetSpread: Duration = .seconds(60)
    /// Until one is due again that was not tried because what it needs is away: this share of how long it has been away, so
    /// that it comes back late by no more than that, and not less than a pause of the breaker's.
    public var awayShare = 0.25
    public var leastAwayWait: Duration = .seconds(15)
    /// Until one is due again that waits for our own side to be mended: slower at first, because only a person can.
    public var heldBackoff = Backoff(base: .seconds(60), cap: .seconds(5 * 60))
    /// Least time before Apple is asked again whether its "not authentic" was meant: a fault of a moment is over then.
    public var recheckGap: Duration = .seconds(3)
    /// How long "not found yet" and "perhaps malformed" may last, from when the doubt came up.
    public var doubtWindow: Duration
    /// How old a parked submission may become before it is given up; nil for never. One that waits for our own side is
    /// never given up.
    public var maxAge: Duration?

    /// A policy; the defaults are those of the worker.
    public init(doubtWindow: Duration = .seconds(6 * 3600), maxAge: Duration? = nil) {
        self.doubtWindow = doubtWindow
        self.maxAge = maxAge
    }
}
