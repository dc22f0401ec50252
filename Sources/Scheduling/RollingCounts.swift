/// Successes and failures of the last seconds, in buckets that are forgotten one by one.
///
/// The counts reach back over at least nine tenths of the length and never over more than all of it. Memory and the work
/// of each call are constant, however many are counted.
public struct RollingCounts: Sendable {
    /// The buckets that make up the length.
    public static let bucketCount = 10

    private struct Bucket: Sendable {
        var successes = 0
        var failures = 0
    }

    /// Of a bucket, in nanoseconds.
    private let width: Int64
    private var buckets = [Bucket](repeating: Bucket(), count: bucketCount)
    /// The number of the bucket that is filled, counted from the clock's start.
    private var newest: Int64?
    public private(set) var successes = 0
    public private(set) var failures = 0

    /// Counts nothing yet.
    ///
    /// - Parameter length: how far the counts reach back.
    public init(length: Duration) {
        width = max(length.clampedNanoseconds / Int64(Self.bucketCount), 1)
    }

    /// Failures among all; 0 if there is nothing.
    public var failureShare: Double {
        let all = successes + failures
        return all == 0 ? 0 : Double(failures) / Double(all)
    }

    /// Counts a success.
    public mutating func addSuccess(at now: Instant) {
        let index = advance(to: now)
        buckets[index].successes += 1
        successes += 1
    }

    /// Counts a failure.
    public mutating func addFailure(at now: Instant) {
        let index = advance(to: now)
        buckets[index].failures += 1
        failures += 1
    }

    /// Forgets the buckets that are too old at an instant, so that the counts are read as of then. An instant earlier than
    /// the last one counts as the last one.
    ///
    /// - Returns: the index of the bucket to fill.
    @discardableResult
    public mutating func advance(to now: Instant) -> Int {
        // Floored, so that buckets before the clock's zero are as wide as the others.
        let current = now.nanoseconds / width - (now.nanoseconds % width < 0 ? 1 : 0)
        let last = newest ?? current
        if current > last {
            for step in 1...min(current - last, Int64(Self.bucketCount)) {
                let index = Self.index(last + step)
                successes -= buckets[index].successes
                failures -= buckets[index].failures
                buckets[index] = Bucket()
            }
        }
        newest = max(current, last)
        return Self.index(max(current, last))
    }

    /// Forgets everything.
    public mutating func clear() {
        buckets = [Bucket](repeating: Bucket(), count: Self.bucketCount)
        successes = 0
        failures = 0
    }

    private static func index(_ number: Int64) -> Int {
        let remainder = Int(number % Int64(bucketCount))
        return remainder < 0 ? remainder + bucketCount : remainder
    }
}
