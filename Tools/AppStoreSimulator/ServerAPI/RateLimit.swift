/// How many calls an app may make of one endpoint of the App Store Server API.
public struct RateLimit: Hashable, Sendable {
    /// In production; the sandbox takes a tenth, and at least one.
    public var calls: Int
    /// Counted anew from each multiple of it since 1970; at least a millisecond.
    public var window: Duration

    /// So many calls in each window.
    public init(calls: Int, window: Duration) {
        self.calls = calls
        self.window = window
    }

    /// The limit that Apple publishes for the endpoints that are simulated: 50 a second, enforced by the hour (Apple,
    /// "Identifying rate limits").
    public static let published = RateLimit(calls: 180_000, window: .seconds(3600))
}
