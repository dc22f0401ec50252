import Synchronization

/// Counts events. An increment is one atomic addition; keep the counter instead of asking the registry each time.
public struct Counter: Sendable {
    let series: CounterSeries

    /// Counts so many more. Counters do not go back: negative amounts are a programming error.
    public func increment(by amount: Int = 1) {
        assert(amount >= 0, "A counter does not go back.")
        series.increment(by: amount)
    }

    /// Raises it to a total that its one owner counts; a smaller total changes nothing.
    public func raise(to total: Int) { series.raise(to: total) }
}

public struct Gauge: Sendable {
    let series: NumberSeries

    public func set(_ value: Int) { series.set(Double(value)) }
    public func set(_ value: Double) { series.set(value) }
}

/// A distribution of times. A record is two or three atomic operations.
public struct Timer: Sendable {
    let series: HistogramSeries

    /// Adds a time, which the metric shows in seconds.
    public func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        series.record(Double(seconds) + Double(attoseconds) * 1e-18)
    }
}

/// A distribution of sizes or counts. A record is two or three atomic operations.
public struct Recorder: Sendable {
    let series: HistogramSeries

    /// Adds a value, in the unit that the metric's name says.
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
    func raise(to total: Int) { count.max(total, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
    func lines(name: String, labels: String) -> [String] { ["\(name)\(labels) \(value)"] }
}

/// A number that is set, or that grows by fractions.
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

/// A metric's name, meaning and labels: a static constant beside the code that counts.
///
/// Names follow Prometheus (<https://prometheus.io/docs/practices/naming/>): letters, digits and `_`, counters end in
/// `_total`, times are in seconds. Debug builds trap on a name of another form. The text of `help` says what is counted
/// and, where an alert depends on it, when to be alarmed.
public struct MetricDeclaration<Metric>: Hashable, Sendable {
    public let name: String
    public let help: String
    /// The names of its labels, in the order in which values are given. Each set of values is a series of its own. So a
    /// label's values come from a small fixed set: never a user, a purchase or a submission.
    public let labels: [String]
    /// Upper bounds of a histogram's buckets, inclusive and rising; one more bucket holds everything above.
    let bounds: [Double]

    private init(_ name: String, _ help: String, _ labels: [String], bounds: [Double] = [], isNamedWell: Bool) {
        assert(PrometheusText.isName(name) && isNamedWell, "The name does not say what kind of metric it is.")
        assert(
            labels.allSatisfy { PrometheusText.isName($0) && $0 != "le" }, "A label's name has letters, digits and _.")
        assert(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "The bounds of buckets rise.")
        self.name = name
        self.help = help
        self.labels = labels
        self.bounds = bounds
    }
}

/// Something that is counted and never goes back while the process lives.
public typealias CounterDeclaration = MetricDeclaration<Counter>
/// Something that has a value at every moment.
public typealias GaugeDeclaration = MetricDeclaration<Gauge>
/// How long something takes, as a histogram.
public typealias TimerDeclaration = MetricDeclaration<Timer>
/// How large something is, as a histogram.
public typealias RecorderDeclaration = MetricDeclaration<Recorder>

extension MetricDeclaration where Metric == Counter {
    public init(_ name: String, help: String, labels: [String] = []) {
        self.init(name, help, labels, isNamedWell: name.hasSuffix("_total"))
    }
}

extension MetricDeclaration where Metric == Gauge {
    public init(_ name: String, help: String, labels: [String] = []) {
        self.init(name, help, labels, isNamedWell: !name.hasSuffix("_total"))
    }
}

extension MetricDeclaration where Metric == Timer {
    /// - Parameter bounds: in seconds; unless they are given, from a millisecond to a minute.
    public init(
        _ name: String, help: String, labels: [String] = [],
        bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
    ) {
        self.init(name, help, labels, bounds: bounds, isNamedWell: name.hasSuffix("_seconds"))
    }
}

extension MetricDeclaration where Metric == Recorder {
    /// - Parameter bounds: for counts and sizes, unless they are given, from one to a million.
    public init(
        _ name: String, help: String, labels: [String] = [],
        bounds: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000]
    ) {
        self.init(name, help, labels, bounds: bounds, isNamedWell: !name.hasSuffix("_total"))
    }
}

/// Names and texts as the Prometheus text format (0.0.4) spells them.
enum PrometheusText {
    /// Whether a metric or a label may have this name. It has letters, digits and `_`, and does not begin with a digit
    /// or with `__`, which Prometheus reserves.
    static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !isDigit(first), !name.hasPrefix("__") else { return false }
        return name.utf8.allSatisfy { byte in
            isDigit(byte) || byte == UInt8(ascii: "_")
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
    }

    /// A label set between braces; empty without labels. A value that is missing is empty.
    static func labels(_ names: [String], _ values: [String]) -> String {
        guard !names.isEmpty else { return "" }
        let pairs = names.enumerated().map { index, name in
            "\(name)=\"\(escaped(index < values.count ? values[index] : "", quotes: true))\""
        }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    /// The lines that explain a metric and name its type.
    static func heading(_ name: String, kind: String, help: String) -> String {
        "# HELP \(name) \(escaped(help, quotes: false))\n# TYPE \(name) \(kind)"
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }

    private static func escaped(_ value: String, quotes: Bool) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"" where quotes: text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
