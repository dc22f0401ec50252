import Scheduling

/// The calls that began and ended in the last seconds, in buckets that expire one by one.
struct CallCounts: Sendable {
    /// Numbers of calls by their results.
    struct Count: Hashable, Sendable {
        var calls = 0
        /// Calls that began, ended or not.
        var begun = 0
        var failures = 0

        /// Share of failed calls among all, unfinished ones included; 0 without calls. Where failures come at once and
        /// replies take a while, the first calls to end are failures, however few they are.
        var failureShare: Double {
            let all = max(calls, begun)
            return all == 0 ? 0 : Double(failures) / Double(all)
        }
        /// Failed calls among those that ended; 0 without calls.
        var endedFailureShare: Double { calls == 0 ? 0 : Double(failures) / Double(calls) }
    }

    /// Number of buckets. The counted time is accurate to a tenth of its length.
    static let bucketCount = 10

    /// Of a bucket, in nanoseconds.
    private let width: Int64
    private var buckets = [Count](repeating: Count(), count: bucketCount)
    /// The newest bucket's number since the clock's start.
    private var newest: Int64 = 0
    /// The sum of the buckets.
    private(set) var total = Count()

    init(length: Duration) {
        width = max(length.clampedNanoseconds / Int64(Self.bucketCount), 1)
    }

    /// Counts a call that began.
    mutating func begin(at now: Instant) {
        advance(to: now)
        buckets[Int(newest % Int64(Self.bucketCount))].begun += 1
        total.begun += 1
    }

    /// A call that began was not made after all. Harmless if its beginning is forgotten.
    mutating func takeBack(begunAt moment: Instant) {
        let number = moment.nanoseconds / width
        let index = Int(number % Int64(Self.bucketCount))
        guard newest - number < Int64(Self.bucketCount), buckets[index].begun > 0 else { return }
        buckets[index].begun -= 1
        total.begun -= 1
    }

    /// Counts a call that ended.
    mutating func add(isFailure: Bool, at now: Instant) {
        advance(to: now)
        let index = Int(newest % Int64(Self.bucketCount))
        buckets[index].calls += 1
        total.calls += 1
        if isFailure {
            buckets[index].failures += 1
            total.failures += 1
        }
    }

    /// Forgets what is older than the window.
    mutating func advance(to now: Instant) {
        guard now.nanoseconds >= (newest + 1) * width else { return }
        let current = now.nanoseconds / width
        for number in (newest + 1)...min(current, newest + Int64(Self.bucketCount)) {
            let index = Int(number % Int64(Self.bucketCount))
            total.calls -= buckets[index].calls
            total.begun -= buckets[index].begun
            total.failures -= buckets[index].failures
            buckets[index] = Count()
        }
        newest = current
    }

    mutating func clear() {
        buckets = [Count](repeating: Count(), count: Self.bucketCount)
        total = Count()
    }
}
