import Dispatch
import Metrics
import Testing

@testable import Worker

@Suite("Prometheus registry")
struct PrometheusRegistryTests {
    private let registry = PrometheusRegistry()

    private func rendered(_ prefix: String, in registry: PrometheusRegistry) -> [Substring] {
        registry.render().split(separator: "\n").filter { $0.hasPrefix(prefix) || $0.hasPrefix("# TYPE \(prefix)") }
    }

    @Test("Counters of one name are one family with a line for each label set")
    func counters() {
        Counter(label: "x_settled_total", dimensions: [("outcome", "granted")], factory: registry).increment(by: 2)
        Counter(label: "x_settled_total", dimensions: [("outcome", "failed")], factory: registry).increment()
        #expect(
            rendered("x_", in: registry) == [
                "# TYPE x_settled_total counter", #"x_settled_total{outcome="failed"} 1"#,
                #"x_settled_total{outcome="granted"} 2"#,
            ])
    }

    @Test("The same name and labels are the same series, in whatever order the labels come")
    func sameSeries() {
        Counter(label: "x", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
        Counter(label: "x", dimensions: [("b", "2"), ("a", "1")], factory: registry).increment()
        #expect(rendered("x_", in: registry) == ["# TYPE x_total counter", #"x_total{a="1",b="2"} 2"#])
    }

    @Test("A counter that was destroyed does not go back")
    func destroyed() {
        let counter = Counter(label: "x", factory: registry)
        counter.increment(by: 5)
        counter.destroy()
        Counter(label: "x", factory: registry).increment()
        #expect(rendered("x_total", in: registry).last == "x_total 6")
    }

    @Test("Gauges and meters are single numbers, also with fractions")
    func gauges() {
        Gauge(label: "x_gauge", factory: registry).record(7)
        let meter = Meter(label: "x_meter", factory: registry)
        meter.set(2.5)
        meter.increment(by: 1)
        meter.decrement(by: 0.25)
        FloatingPointCounter(label: "x_seconds", factory: registry).increment(by: 0.5)
        #expect(
            rendered("x_", in: registry) == [
                "# TYPE x_gauge gauge", "x_gauge 7", "# TYPE x_meter gauge", "x_meter 3.25",
                "# TYPE x_seconds_total counter",
                "x_seconds_total 0.5",
            ])
    }

    @Test("Timers are histograms in seconds whose buckets add up")
    func timers() {
        let timer = Timer(label: "x_call", dimensions: [("to", "apple")], factory: registry)
        for milliseconds in [1, 3, 700, 60_000] { timer.recordMilliseconds(Int64(milliseconds)) }
        let lines = rendered("x_call_seconds", in: registry)
        #expect(lines.first == "# TYPE x_call_seconds histogram")
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

    @Test("Recorders are histograms of counts")
    func recorders() {
        let recorder = Recorder(label: "x_batch", factory: registry)
        recorder.record(1)
        recorder.record(500)
        let lines = rendered("x_batch", in: registry)
        #expect(lines.contains(#"x_batch_bucket{le="1"} 1"#))
        #expect(lines.contains(#"x_batch_bucket{le="500"} 2"#))
        #expect(lines.suffix(2) == ["x_batch_sum 501", "x_batch_count 2"])
    }

    @Test("What is known of a metric stands before its type, under the name it is shown by")
    func help() {
        let registry = PrometheusRegistry(help: ["x_call_seconds": "Time of a call.", "y": "Nobody makes it."])
        Timer(label: "x_call", factory: registry).recordSeconds(1)
        let text = registry.render()
        #expect(text.hasPrefix("# HELP x_call_seconds Time of a call.\n# TYPE x_call_seconds histogram\n"))
        #expect(!text.contains("Nobody"))
    }

    @Test("Beyond the limit series are counted, not kept")
    func limited() {
        let registry = PrometheusRegistry(limit: 2)
        for user in 0..<5 { Counter(label: "x", dimensions: [("user", "\(user)")], factory: registry).increment() }
        #expect(rendered("x_total", in: registry).count == 3)
        #expect(registry.render().contains("\n\(PrometheusRegistry.droppedName) 3\n"))
    }

    @Test("A name that another kind of metric has is not shown twice")
    func conflictingKinds() {
        Recorder(label: "x", factory: registry).record(1)
        Gauge(label: "x", factory: registry).record(1)
        Gauge(label: "x_count", factory: registry).record(9)
        #expect(!rendered("x", in: registry).contains("x_count 9"))
        #expect(rendered("# TYPE x", in: registry) == ["# TYPE x histogram"])
        #expect(registry.render().contains("\(PrometheusRegistry.droppedName) 2"))
    }

    @Test("The process's own metrics are shown, and no other metric takes their names")
    func processMetrics() {
        Gauge(label: "process_resident_memory_bytes", factory: registry).record(1)
        let lines = rendered("process_resident_memory_bytes", in: registry)
        #expect(lines.count == 2)
        #expect(!lines.contains("process_resident_memory_bytes 1"))
    }

    @Test("Increments of many threads are all counted")
    func concurrency() {
        let counter = Counter(label: "x", factory: registry)
        let number = FloatingPointCounter(label: "y", factory: registry)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<1000 {
                counter.increment()
                number.increment(by: 0.5)
            }
        }
        #expect(rendered("x_total", in: registry).last == "x_total 8000")
        #expect(rendered("y_total", in: registry).last == "y_total 4000")
    }
}
