/// How submissions without an answer are tried again.
public struct RetryPolicy: Hashable, Sendable {
    /// Between tries while Apple gives no answer.
    public let backoff: Backoff
    /// Between tries while our own side is at fault: slower, because only a person can mend it.
    public let holdBackoff: Backoff
    /// Least time before Apple is asked again whether its "not authentic" was meant: a fault of a moment is over then.
    public let recheckGap: Duration
    /// How long "not found yet" and "perhaps malformed" may last, from when the doubt came up.
    public let doubtWindow: Duration
    /// Share of the window, by count and by bytes, that submissions in doubt may hold, and as much again those that wait
    /// for our side to be mended. Beyond it they go to the ledger: neither made-up claims nor one app's mistake may fill the
    /// window and stop everybody's purchases.
    public let waitShare: Double
    /// Fewest tries before that.
    public let crowdedTries: Int

    /// A policy; the defaults are those of the worker.
    public init(
        backoff: Backoff = Backoff(base: .milliseconds(200), cap: .seconds(30)),
        holdBackoff: Backoff = Backoff(base: .seconds(5), cap: .seconds(60)),
        recheckGap: Duration = .seconds(3), doubtWindow: Duration = .seconds(6 * 3600), waitShare: Double = 0.25,
        crowdedTries: Int = 5
    ) {
        self.backoff = backoff
        self.holdBackoff = holdBackoff
        self.recheckGap = recheckGap
        self.doubtWindow = doubtWindow
        self.waitShare = waitShare
        self.crowdedTries = crowdedTries
    }
}
