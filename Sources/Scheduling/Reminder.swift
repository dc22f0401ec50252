/// Lasting trouble: it is logged when it begins, every ten minutes while it lasts, and once when it is over. It is over
/// after a time without it, so trouble that comes and goes counts as one.
@frozen
public struct Reminder: Hashable, Sendable {
    /// The time between two times of telling.
    public static let pause: Duration = .seconds(600)
    /// How long trouble that comes and goes must be away until it is over.
    public static let quiet: Duration = .seconds(60)

    /// News for the log: trouble that lasts gives one in each ``pause``, and one at its end.
    @frozen
    public enum News: Hashable, Sendable {
        /// It begins, or goes on.
        case lasts
        case over(after: Duration)
    }

    /// Since when it is known to last; nil while it does not.
    public private(set) var since: Instant?
    private var latest: Instant?
    private var toldAt: Instant?
    private let quiet: Duration

    /// A reminder that knows of no trouble yet.
    /// - Parameter quiet: It is over once it has been away for so long.
    public init(quiet: Duration = .zero) { self.quiet = quiet }

    /// Trouble that people know of already.
    public init(toldAt now: Instant) {
        self.init()
        (since, latest, toldAt) = (now, now, now)
    }

    /// The same trouble, to be logged at once.
    public init(of trouble: Reminder) {
        self.init(quiet: trouble.quiet)
        (since, latest) = (trouble.since, trouble.latest)
    }

    /// Whether it would be over, if it did not last now.
    public func isQuiet(at now: Instant) -> Bool { latest.map { now - $0 >= quiet } ?? true }

    /// Takes in whether the trouble lasts at this moment. Only a call can find that it is over.
    /// - Returns: the news to log; nil for none.
    public mutating func observe(_ lasts: Bool, at now: Instant) -> News? {
        guard lasts else {
            guard isQuiet(at: now) else { return nil }
            defer { (since, latest, toldAt) = (nil, nil, nil) }
            return since.map { .over(after: now - $0) }
        }
        since = since ?? now
        latest = now
        guard toldAt.map({ now - $0 >= Self.pause }) ?? true else { return nil }
        toldAt = now
        return .lasts
    }

    /// When it is to be logged again, if it lasts; nil while it does not.
    public var nextMoment: Instant? { toldAt.map { $0 + Self.pause } }
}
