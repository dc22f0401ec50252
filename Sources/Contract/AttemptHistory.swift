/// An attempt that decided nothing.
public struct Attempt: Hashable, Sendable {
    public let at: Timestamp
    /// One word, as in metrics.
    public let cause: String
    /// One sentence; holds no evidence, token or secret.
    public let detail: String

    /// An attempt by its end.
    public init(at: Timestamp, cause: String, detail: String) {
        self.at = at
        self.cause = cause
        self.detail = detail
    }
}

/// The attempts of one submission that decided nothing: the first ones and the latest, in order.
public struct AttemptHistory: Hashable, Sendable {
    /// So many of the first attempts are kept, whatever comes after them.
    public static let maxFirst = 10
    /// So many of the latest attempts are kept.
    public static let maxLatest = 40

    public private(set) var attempts: [Attempt]

    /// A history as it was kept.
    public init(_ attempts: [Attempt] = []) {
        self.attempts = attempts
    }

    /// Adds an attempt; one between the first and the latest goes where there are too many.
    public mutating func add(_ attempt: Attempt) {
        attempts.append(attempt)
        if attempts.count > Self.maxFirst + Self.maxLatest { attempts.remove(at: Self.maxFirst) }
    }
}
