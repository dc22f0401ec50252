import Metrics
import Synchronization

/// The process's metrics: a swift-metrics back end that renders the Prometheus text format, version 0.0.4
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
///
/// Counters get the suffix `_total` and timers `_seconds` where they lack it. Timers and recorders are histograms of
/// fixed buckets, gauges and meters single numbers. A series lives as long as the process, so that no counter goes back:
/// destroying a metric does nothing.
final class PrometheusRegistry: MetricsFactory {
    /// Most series in all. Those beyond it are counted in ``droppedName`` and shown nowhere.
    static let maxSeries = 10_000
    /// Counts metrics that could not be shown: beyond ``maxSeries``, or of a name that another kind of metric has.
    static let droppedName = "grantor_metrics_dropped_series_total"
    /// Upper bounds of timers, in seconds.
    static let timerBounds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ]
    /// Upper bounds of recorders, for counts and sizes.
    static let recorderBounds: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000]

    private enum Kind: String {
        case counter, gauge, histogram
    }

    private struct Family {
        let kind: Kind
        var series: [String: any MetricSeries] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        /// The family that each sample's name belongs to; a histogram has three names.
        var owners: [String: String] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let dropped = CounterSeries()
    private let limit: Int
    private let help: [String: String]

    /// - Parameters:
    ///   - limit: most series in all.
    ///   - help: what metrics mean, by the names they are shown under.
    init(limit: Int = maxSeries, help: [String: String] = MetricHelp.texts) {
        self.limit = limit
        self.help = help
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(MetricName.metric(label, suffix: "_total"), .counter, dimensions) { CounterSeries() }
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(MetricName.metric(label, suffix: "_total"), .counter, dimensions) { NumberSeries() }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(MetricName.metric(label), .gauge, dimensions) { NumberSeries() }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return series(MetricName.metric(label), .gauge, dimensions) { NumberSeries() } }
        return series(MetricName.metric(label), .histogram, dimensions) {
            HistogramSeries(bounds: Self.recorderBounds)
        }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(MetricName.metric(label, suffix: "_seconds"), .histogram, dimensions) {
            HistogramSeries(bounds: Self.timerBounds)
        }
    }

    func destroyCounter(_: any CounterHandler) {}
    func destroyFloatingPointCounter(_: any FloatingPointCounterHandler) {}
    func destroyMeter(_: any MeterHandler) {}
    func destroyRecorder(_: any RecorderHandler) {}
    func destroyTimer(_: any TimerHandler) {}

    /// Everything measured so far, families and series in the order of their names, and the process's own metrics.
    func render() -> String {
        let families = state.withLock { $0.families }
        var lines: [String] = []
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            if let text = help[name] { lines.append(MetricHelp.line(name, text)) }
            lines.append("# TYPE \(name) \(family.kind.rawValue)")
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                lines += series.lines(name: name, labels: labels)
            }
        }
        lines.append(MetricHelp.line(Self.droppedName, "Metrics that are not shown: too many series, or a name taken."))
        lines.append("# TYPE \(Self.droppedName) counter")
        lines += dropped.lines(name: Self.droppedName, labels: "")
        return lines.joined(separator: "\n") + "\n" + (ProcessMetrics.current()?.render() ?? "")
    }

    /// The series of a name and label set: the same for every caller. One that cannot be shown is made all the same, so
    /// that its owner need not know.
    private func series<Series: MetricSeries>(
        _ name: String, _ kind: Kind, _ dimensions: [(String, String)], _ make: () -> Series
    ) -> Series {
        let labels = MetricName.labels(dimensions)
        return state.withLock { state in
            if let known = state.families[name]?.series[labels] as? Series { return known }
            let names = Self.sampleNames(name, kind)
            let isFree =
                name != Self.droppedName && !name.hasPrefix(ProcessMetrics.prefix)
                && names.allSatisfy { state.owners[$0, default: name] == name }
            let isSameKind = state.families[name].map { $0.kind == kind && $0.series[labels] == nil } ?? true
            let series = make()
            guard isFree, isSameKind, state.count < limit else {
                dropped.increment(by: 1)
                return series
            }
            for sample in names { state.owners[sample] = name }
            state.families[name, default: Family(kind: kind)].series[labels] = series
            state.count += 1
            return series
        }
    }

    private static func sampleNames(_ name: String, _ kind: Kind) -> [String] {
        kind == .histogram ? [name, name + "_bucket", name + "_sum", name + "_count"] : [name]
    }
}
