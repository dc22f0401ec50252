/// Trouble that lasts: people are told when it begins, every ten minutes while it lasts, and once when it is over.
@frozen
public struct Reminder: Hashable, Sendable {
    /// The time between two times of telling.
    public static let pause: Duration = .seconds(600)

    /// Something to be told.
    @frozen
    public enum News: Hashable, Sendable {
        /// It begins, or goes on.
        case lasts
        case over(after: Duration)
    }

    /// Since when it is known to last; nil while it does not.
    public private(set) var since: Instant?
    private var toldAt: Instant?

    /// No trouble.
    public init() {}

    /// Trouble that people know of already.
    public init(toldAt now: Instant) { (since, toldAt) = (now, now) }

    /// The same trouble, to be told at once.
    public init(of trouble: Reminder) { since = trouble.since }

    /// Looks whether it lasts.
    /// - Returns: the news to be told; nil for none.
    public mutating func observe(_ lasts: Bool, at now: Instant) -> News? {
        guard lasts else {
            defer { (since, toldAt) = (nil, nil) }
            return since.map { .over(after: now - $0) }
        }
        since = since ?? now
        guard toldAt.map({ now - $0 >= Self.pause }) ?? true else { return nil }
        toldAt = now
        return .lasts
    }

    /// When it is to be told again, if it lasts; nil while it does not.
    public var nextMoment: Instant? { toldAt.map { $0 + Self.pause } }
}
