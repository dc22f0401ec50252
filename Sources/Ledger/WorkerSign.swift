public import Contract

/// The sign of life that a worker gives with each sample. By these signs the workers count each other.
public struct WorkerSign: Hashable, Sendable {
    /// A worker without a sign for so many milliseconds counts as gone: three times the longest pause between samples.
    public static let mostSilence: Int64 = 90_000

    /// When a worker's latest sign came if it counts as living. A sign from further ahead is that of a clock that was
    /// ahead, and says nothing of now.
    public static func living(at now: Timestamp) -> ClosedRange<Int64> {
        now.milliseconds - mostSilence + 1...now.milliseconds + mostSilence
    }

    /// Rows of workers that are gone are kept for people for so many milliseconds: a day.
    public static let keptFor: Int64 = 86_400_000

    /// Drawn at the worker's start.
    public let id: Int64
    /// Host and process, for people.
    public let name: String
    /// The program's.
    public let version: String

    public init(id: Int64, name: String, version: String) {
        self.id = id
        self.name = name
        self.version = version
    }
}

/// A worker as people see it, by its latest sign.
public struct WorkerRow: Hashable, Sendable {
    /// Host and process.
    public let name: String
    public let version: String
    public let startedAt: Timestamp
    public let seenAt: Timestamp
    /// Whether it counts as living, by the ledger's clock.
    public let isLive: Bool

    public init(name: String, version: String, startedAt: Timestamp, seenAt: Timestamp, isLive: Bool) {
        self.name = name
        self.version = version
        self.startedAt = startedAt
        self.seenAt = seenAt
        self.isLive = isLive
    }
}
