internal import Contract

struct RateLimiter: Sendable {
    /// Counters at once; beyond them calls are refused.
    static let counterLimit = 10_000

    fileprivate struct Key: Hashable {
        let limit: RateLimit
        let app: BundleID
        let endpoint: ServerAPICall.Endpoint
        let environment: Environment
    }

    private struct Counter {
        let end: Timestamp
        var calls = 0
    }

    private let limits: [RateLimit]
    private var counters: [Key: Counter] = [:]

    /// - Parameter limits: All of them hold at once; none for no limit.
    init(_ limits: [RateLimit]) {
        self.limits = limits
    }

    /// Counts a call, unless a limit is reached.
    ///
    /// - Returns: Nil if the call is within the limits; else when it may be made again.
    mutating func admit(
        _ app: BundleID, _ endpoint: ServerAPICall.Endpoint, in environment: Environment, now: Timestamp
    ) -> Timestamp? {
        let keys = limits.map { Key(limit: $0, app: app, endpoint: endpoint, environment: environment) }
        makeRoom(for: keys.count, now: now)
        for key in keys {
            let counter = counter(of: key, now: now)
            guard counter.calls < key.calls, counters[key] != nil || counters.count < Self.counterLimit else {
                return counter.end
            }
        }
        for key in keys {
            var counter = counter(of: key, now: now)
            counter.calls += 1
            counters[key] = counter
        }
        return nil
    }

    private func counter(of key: Key, now: Timestamp) -> Counter {
        if let counter = counters[key], counter.end > now { return counter }
        let window = max(1, key.limit.window.wholeMilliseconds)
        let start = now.milliseconds - now.milliseconds % window
        return Counter(end: Timestamp(milliseconds: start).advanced(by: .milliseconds(window)))
    }

    private mutating func makeRoom(for count: Int, now: Timestamp) {
        guard counters.count + count > Self.counterLimit else { return }
        counters = counters.filter { $0.value.end > now }
    }
}

extension RateLimiter.Key {
    fileprivate var calls: Int {
        environment == .production ? limit.calls : max(1, limit.calls / 10)
    }
}
