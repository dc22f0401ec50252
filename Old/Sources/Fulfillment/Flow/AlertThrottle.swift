import Synchronization

/// Lets one line through for each kind of trouble in a while, with the number of those it stands for, so that the log
/// stays readable while thousands of submissions meet the same trouble.
final class AlertThrottle: Sendable {
    /// How long a kind is quiet after a line, unless it says otherwise.
    static let interval: Duration = .seconds(60)
    /// Kinds told apart; beyond it a new kind is let through each time.
    static let maxKinds = 10_000

    private struct Kind {
        var lastShown: Duration
        var sinceThen = 0
    }

    private let kinds = Mutex<[String: Kind]>([:])

    /// One more of a kind was seen.
    ///
    /// - Parameter interval: how long the kind is quiet after a line; always the same for a kind.
    /// - Returns: how many the line stands for; nil if none is to be written now.
    func count(_ name: String, at elapsed: Duration, every interval: Duration = AlertThrottle.interval) -> Int? {
        kinds.withLock { kinds in
            guard var kind = kinds[name] else {
                if kinds.count < Self.maxKinds { kinds[name] = Kind(lastShown: elapsed) }
                return 1
            }
            kind.sinceThen += 1
            defer { kinds[name] = kind }
            guard elapsed - kind.lastShown >= interval else { return nil }
            let count = kind.sinceThen
            kind = Kind(lastShown: elapsed)
            return count
        }
    }
}
