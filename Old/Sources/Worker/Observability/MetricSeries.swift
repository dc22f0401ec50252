import Metrics
import Synchronization

/// One series of a metric: what it holds, as lines of the exposition.
protocol MetricSeries: Sendable {
    /// - Parameters:
    ///   - name: the metric's name.
    ///   - labels: its label set with braces, or nothing.
    func lines(name: String, labels: String) -> [String]
}

/// A count of things. One atomic addition per increment.
final class CounterSeries: MetricSeries, CounterHandler {
    private let count = Atomic<Int64>(0)

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }
    func lines(name: String, labels: String) -> [String] { ["\(name)\(labels) \(count.load(ordering: .relaxed))"] }
}

/// A number that is set, or that grows by fractions.
final class NumberSeries: MetricSeries, FloatingPointCounterHandler, MeterHandler, RecorderHandler {
    private let bits = Atomic<UInt64>(Double.zero.bitPattern)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func decrement(by amount: Double) { increment(by: -amount) }
    func reset() { set(0 as Double) }

    func increment(by amount: Double) {
        var seen = bits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: seen) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: seen, desired: sum, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }

    func lines(name: String, labels: String) -> [String] {
        ["\(name)\(labels) \(MetricName.number(Double(bitPattern: bits.load(ordering: .relaxed))))"]
    }
}

/// How often values fell into which range.
final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler {
    private struct State {
        /// One per bound, and one for what is above the last.
        var counts: [UInt64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    /// - Parameter bounds: upper bounds, inclusive, rising.
    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock {
            $0.counts[bucket] &+= 1
            $0.sum += value
        }
    }

    func lines(name: String, labels: String) -> [String] {
        let state = state.withLock { $0 }
        // Inside the braces, before the bound.
        let inner = labels.isEmpty ? "" : labels.dropFirst().dropLast() + ","
        var lines: [String] = []
        var total: UInt64 = 0
        for (bound, count) in zip(bounds + [.infinity], state.counts) {
            total += count
            lines.append("\(name)_bucket{\(inner)le=\"\(MetricName.number(bound))\"} \(total)")
        }
        lines.append("\(name)_sum\(labels) \(MetricName.number(state.sum))")
        lines.append("\(name)_count\(labels) \(total)")
        return lines
    }
}
