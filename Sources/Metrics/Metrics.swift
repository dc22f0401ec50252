import Synchronization

/// Counts events. An increment is one atomic addition; keep the counter instead of asking the registry each time.
public struct Counter: Sendable {
    let series: CounterSeries

    /// Counts so many more. Counters do not go back: negative amounts are a programming error.
    public func increment(by amount: Int = 1) {
        assert(amount >= 0, "A counter does not go back.")
        series.increment(by: amount)
    }
}

public struct Gauge: Sendable {
    let series: NumberSeries

    public func set(_ value: Int) { series.set(Double(value)) }
    public func set(_ value: Double) { series.set(value) }
    public func increment(by amount: Double = 1) { series.increment(by: amount) }
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

protocol MetricSeries: Sendable {
    /// - Parameters:
    ///   - name: the metric's name.
    ///   - labels: its label set with braces, or nothing.
    func lines(name: String, labels: String) -> [String]
}

/// A whole number that grows.
final class CounterSeries: MetricSeries {
    private let count = Atomic(0)

    func increment(by amount: Int) { count.wrappingAdd(amount, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
    func lines(name: String, labels: String) -> [String] { ["\(name)\(labels) \(value)"] }
}

/// A number that is set, or that changes by fractions.
final class NumberSeries: MetricSeries {
    private let bits = Atomic<UInt64>(Double.zero.bitPattern)

    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func increment(by amount: Double) {
        var seen = bits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: seen) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: seen, desired: sum, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }

    func lines(name: String, labels: String) -> [String] { ["\(name)\(labels) \(PrometheusText.number(value))"] }
}

/// Counts of values by range. A reader beside writers may see a count before its share of the sum.
final class HistogramSeries: MetricSeries {
    private let bounds: [Double]
    /// One per bound, and one for what is above the last.
    private let counts: [CounterSeries]
    private let sum = NumberSeries()

    /// - Parameter bounds: upper bounds, inclusive, rising.
    init(bounds: [Double]) {
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in CounterSeries() }
    }

    func record(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count].increment(by: 1)
        sum.increment(by: value)
    }

    func lines(name: String, labels: String) -> [String] {
        // Inside the braces, before the bound.
        let inner = labels.isEmpty ? "" : labels.dropFirst().dropLast() + ","
        var lines: [String] = []
        var total = 0
        for (bound, count) in zip(bounds + [.infinity], counts) {
            total += count.value
            lines.append("\(name)_bucket{\(inner)le=\"\(PrometheusText.number(bound))\"} \(total)")
        }
        lines.append("\(name)_sum\(labels) \(PrometheusText.number(sum.value))")
        lines.append("\(name)_count\(labels) \(total)")
        return lines
    }
}

/// A number that its owner keeps anyway and is asked for at each rendering.
final class ObservedSeries: MetricSeries {
    private let read: @Sendable () -> Double

    init(_ read: @escaping @Sendable () -> Double) { self.read = read }

    func lines(name: String, labels: String) -> [String] { ["\(name)\(labels) \(PrometheusText.number(read()))"] }
}
