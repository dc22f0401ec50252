import Synchronization

/// Metrics and their current values, rendered as the Prometheus text format, version 0.0.4
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
///
/// Ask for a metric once and keep it: the asking takes a lock, the counting does not. A series lives as long as its
/// registry, so that no counter goes back, and is shown from the moment it is asked for. A series beyond the limit is
/// made all the same, so that its owner need not know. It is not shown, and ``dropped`` counts it. Debug builds trap on
/// a name that was declared otherwise before.
public final class PrometheusRegistry: Sendable {
    /// The registry of this process. Tests make registries of their own.
    public static let shared = PrometheusRegistry()
    /// Most series of a registry, unless it is made with another limit.
    public static let maxSeries = 10_000
    /// Series that could not be shown.
    public static let dropped = CounterDeclaration(
        "grantor_metrics_dropped_series_total",
        help: "Series that are not shown: too many of them, or a name declared twice. Alert on any.")

    private enum Kind: String {
        case counter, gauge, histogram
    }

    private struct Family {
        let kind: Kind
        let help: String
        /// By their label sets.
        var series: [String: any MetricSeries] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let droppedSeries = CounterSeries()
    private let limit: Int

    /// An empty registry. A series beyond the limit is counted as dropped, and is not shown.
    /// - Parameter limit: most series in all.
    public init(limit: Int = PrometheusRegistry.maxSeries) { self.limit = limit }

    /// The counter of a declaration and the values of its labels, in their order: the same one for every caller.
    public func counter(_ declaration: CounterDeclaration, _ labels: String...) -> Counter {
        Counter(series: series(declaration, .counter, labels) { CounterSeries() })
    }

    /// The gauge of a declaration and the values of its labels; see ``counter(_:_:)``.
    public func gauge(_ declaration: GaugeDeclaration, _ labels: String...) -> Gauge {
        Gauge(series: series(declaration, .gauge, labels) { NumberSeries() })
    }

    /// The timer of a declaration and the values of its labels; see ``counter(_:_:)``.
    public func timer(_ declaration: TimerDeclaration, _ labels: String...) -> Timer {
        Timer(series: series(declaration, .histogram, labels) { HistogramSeries(bounds: declaration.bounds) })
    }

    /// The recorder of a declaration and the values of its labels; see ``counter(_:_:)``.
    public func recorder(_ declaration: RecorderDeclaration, _ labels: String...) -> Recorder {
        Recorder(series: series(declaration, .histogram, labels) { HistogramSeries(bounds: declaration.bounds) })
    }

    /// Shows a value that its owner keeps anyway, such as the length of a queue.
    /// - Parameter read: called on whichever thread renders; answers at once. The first one for a series stays.
    public func observe(
        _ declaration: GaugeDeclaration, _ labels: String..., reading read: @escaping @Sendable () -> Double
    ) {
        _ = series(declaration, .gauge, labels) { ObservedSeries(read) }
    }

    /// Shows a count that its owner keeps anyway; see ``observe(_:_:reading:)-(GaugeDeclaration,_,_)``.
    public func observe(
        _ declaration: CounterDeclaration, _ labels: String..., reading read: @escaping @Sendable () -> Double
    ) {
        _ = series(declaration, .counter, labels) { ObservedSeries(read) }
    }

    /// Everything counted so far, families and series in the order of their names, and the process's own metrics.
    public func render() -> String {
        let families = state.withLock { $0.families }
        var lines: [String] = []
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            lines.append(PrometheusText.heading(name, kind: family.kind.rawValue, help: family.help))
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                lines += series.lines(name: name, labels: labels)
            }
        }
        lines.append(PrometheusText.heading(Self.dropped.name, kind: Kind.counter.rawValue, help: Self.dropped.help))
        lines += droppedSeries.lines(name: Self.dropped.name, labels: "")
        return lines.joined(separator: "\n") + "\n" + (ProcessMetrics.current()?.render() ?? "")
    }

    private func series<Series: MetricSeries>(
        _ declaration: MetricDeclaration<some Any>, _ kind: Kind, _ values: [String], _ make: () -> Series
    ) -> Series {
        assert(values.count == declaration.labels.count, "A series has a value for each label of its declaration.")
        let name = declaration.name
        let labels = PrometheusText.labels(declaration.labels, values)
        return state.withLock { state in
            let family = state.families[name] ?? Family(kind: kind, help: declaration.help)
            assert(family.kind == kind && family.help == declaration.help, "A name is declared once.")
            if let known = family.series[labels] as? Series { return known }
            let series = make()
            guard family.kind == kind, state.count < limit else {
                droppedSeries.increment(by: 1)
                return series
            }
            state.families[name, default: family].series[labels] = series
            state.count += 1
            return series
        }
    }
}
