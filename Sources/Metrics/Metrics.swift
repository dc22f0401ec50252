/// Counts events. An increment is one atomic addition; keep the counter instead of asking the registry each time.
public struct Counter: Sendable {
    let series: CounterSeries

    /// Counts so many more. Counters do not go back: negative amounts are a programming error.
    public func increment(by amount: Int = 1) {
        assert(amount >= 0, "A counter does not go back.")
        series.increment(by: amount)
    }
}

/// Counts amounts that are no whole numbers, such as seconds.
public struct FloatingPointCounter: Sendable {
    let series: NumberSeries

    /// Counts so much more. Counters do not go back: negative amounts are a programming error.
    public func increment(by amount: Double) {
        assert(amount >= 0, "A counter does not go back.")
        series.increment(by: amount)
    }
}

/// A value that rises and falls.
public struct Gauge: Sendable {
    let series: NumberSeries

    public func set(_ value: Int) { series.set(Double(value)) }
    public func set(_ value: Double) { series.set(value) }
    public func increment(by amount: Double = 1) { series.increment(by: amount) }
    public func decrement(by amount: Double = 1) { series.increment(by: -amount) }
}

/// A distribution of times. A record is two or three atomic operations.
public struct Timer: Sendable {
    let series: HistogramSeries

    public func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        series.record(Double(seconds) + Double(attoseconds) * 1e-18)
    }
}

/// A distribution of sizes or counts. A record is two or three atomic operations.
public struct Recorder: Sendable {
    let series: HistogramSeries

    public func record(_ value: Int) { series.record(Double(value)) }
    public func record(_ value: Double) { series.record(value) }
}
