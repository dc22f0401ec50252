/// How submissions without an answer are tried again.
public struct RetryPolicy: Hashable, Sendable {
    /// Between tries while Apple gives no answer.
    public let backoff: Backoff
    /// Between tries while our own side is at fault: slower, because only a person can mend it.
    public let holdBackoff: Backoff
    /// How long "not found yet" and "perhaps malformed" may last, from the first try on.
    public let doubtWindow: Duration
    /// Most submissions that may wait in doubt at once. Beyond it the newest is settled after ``doubtTries`` tries:
    /// whoever submits made-up claims must not be able to fill the window and stop everybody's purchases.
    public let maxInDoubt: Int
    /// Fewest tries before a doubt is settled against a submission for lack of room.
    public let doubtTries: Int

    /// A policy; the defaults are those of the worker.
    public init(
        backoff: Backoff = Backoff(base: .milliseconds(200), cap: .seconds(30)),
        holdBackoff: Backoff = Backoff(base: .seconds(5), cap: .seconds(60)),
        doubtWindow: Duration = .seconds(6 * 3600), maxInDoubt: Int = 1000, doubtTries: Int = 5
    ) {
        self.backoff = backoff
        self.holdBackoff = holdBackoff
        self.doubtWindow = doubtWindow
        self.maxInDoubt = maxInDoubt
        self.doubtTries = doubtTries
    }
}
