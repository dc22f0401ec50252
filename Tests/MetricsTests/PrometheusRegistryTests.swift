import Testing

@testable import Metrics

struct PrometheusRegistryTests {
    private static let outcomes = CounterDeclaration("x_outcomes_total", help: "Outcomes.", labels: ["outcome", "app"])
    private static let reads = CounterDeclaration("x_reads_total", help: "Reads.")
    private static let length = GaugeDeclaration("x_length", help: "Length.")

    private let registry = PrometheusRegistry()

    private func rendered(_ prefix: String) -> [Substring] {
        registry.render().split(separator: "\n").filter { line in
            ["", "# HELP ", "# TYPE "].contains { line.hasPrefix($0 + prefix) }
        }
    }

    @Test("Counters of one declaration are a family with a line for each label set")
    func counters() {
        registry.counter(Self.outcomes, "granted", "a").increment(by: 2)
        registry.counter(Self.outcomes, "failed", "a").increment()
        #expect(
            rendered("x_") == [
                "# HELP x_outcomes_total Outcomes.", "# TYPE x_outcomes_total counter",
                #"x_outcomes_total{outcome="failed",app="a"} 1"#, #"x_outcomes_total{outcome="granted",app="a"} 2"#,
            ])
    }

    @Test("The same declaration and labels give the same series to every caller")
    func sameSeries() {
        registry.counter(Self.reads).increment()
        registry.counter(Self.reads).increment(by: 2)
        #expect(rendered("x_reads_total").last == "x_reads_total 3")
        #expect(registry.counter(Self.reads).series.value == 3)
    }

    @Test("A series is shown before anything is counted")
    func shownAtOnce() {
        _ = registry.counter(Self.reads)
        #expect(rendered("x_reads_total").last == "x_reads_total 0")
    }

    @Test("Gauges are set, also to fractions")
    func gauges() {
        let gauge = registry.gauge(Self.length)
        gauge.set(2.5)
        #expect(rendered("x_length").last == "x_length 2.5")
        gauge.set(7)
        #expect(rendered("x_length").last == "x_length 7")
    }

    @Test("Timers are histograms in seconds whose buckets add up")
    func timers() {
        let timer = registry.timer(TimerDeclaration("x_call_seconds", help: "Calls.", labels: ["to"]), "apple")
        for milliseconds in [1, 3, 700, 60_000] { timer.record(.milliseconds(milliseconds)) }
        let lines = rendered("x_call_seconds")
        #expect(lines.dropFirst().first == "# TYPE x_call_seconds histogram")
        #expect(lines.contains(#"x_call_seconds_bucket{to="apple",le="0.001"} 1"#))
        #expect(lines.contains(#"x_call_seconds_bucket{to="apple",le="0.005"} 2"#))
        #expect(lines.contains(#"x_call_seconds_bucket{to="apple",le="30"} 3"#))
        #expect(lines.contains(#"x_call_seconds_bucket{to="apple",le="60"} 4"#))
        #expect(
            lines.suffix(3) == [
                #"x_call_seconds_bucket{to="apple",le="+Inf"} 4"#, #"x_call_seconds_sum{to="apple"} 60.704"#,
                #"x_call_seconds_count{to="apple"} 4"#,
            ])
    }

    @Test("Recorders are histograms of sizes, with bounds of their own if they like")
    func recorders() {
        let recorder = registry.recorder(RecorderDeclaration("x_batch_rows", help: "Rows.", bounds: [1, 256]))
        recorder.record(1)
        recorder.record(200.5)
        recorder.record(300)
        #expect(
            rendered("x_batch_rows").suffix(5) == [
                #"x_batch_rows_bucket{le="1"} 1"#, #"x_batch_rows_bucket{le="256"} 2"#,
                #"x_batch_rows_bucket{le="+Inf"} 3"#, "x_batch_rows_sum 501.5", "x_batch_rows_count 3",
            ])
    }

    @Test("An observed value is asked for at each rendering")
    func observed() {
        let reads = registry.counter(Self.reads)
        registry.observe(Self.length) { Double(reads.series.value) / 2 }
        registry.observe(CounterDeclaration("x_lost_total", help: "Lost.", labels: ["from"]), "log") { 4 }
        reads.increment()
        #expect(rendered("x_length").last == "x_length 0.5")
        reads.increment()
        #expect(rendered("x_length").last == "x_length 1")
        #expect(rendered("x_lost").last == #"x_lost_total{from="log"} 4"#)
    }

    @Test("Beyond the limit series are counted, not kept")
    func limit() {
        let registry = PrometheusRegistry(limit: 2)
        for user in 0..<5 { registry.counter(Self.outcomes, "\(user)", "a").increment() }
        #expect(registry.render().split(separator: "\n").count { $0.hasPrefix("x_outcomes_total{") } == 2)
        #expect(registry.render().contains("\n\(PrometheusRegistry.dropped.name) 3\n"))
    }

    @Test("Increments of many threads are all counted")
    func threads() async {
        let counter = registry.counter(Self.reads)
        let timer = registry.timer(TimerDeclaration("x_seconds", help: "Time."))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 {
                        counter.increment()
                        timer.record(.milliseconds(500))
                    }
                }
            }
        }
        #expect(rendered("x_reads_total").last == "x_reads_total 8000")
        #expect(rendered("x_seconds").suffix(2) == ["x_seconds_sum 4000", "x_seconds_count 8000"])
    }
}
