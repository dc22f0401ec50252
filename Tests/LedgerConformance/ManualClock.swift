public import Contract
import Synchronization

/// A clock that stands until it is set.
public final class ManualClock: Sendable {
    private let milliseconds = Atomic<Int64>(Samples.noon.milliseconds)

    public init() {}

    public var now: Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }

    public func set(_ moment: Timestamp) { milliseconds.store(moment.milliseconds, ordering: .relaxed) }
}
