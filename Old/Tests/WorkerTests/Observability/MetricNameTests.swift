import Testing

@testable import Worker

@Suite("Names in the Prometheus format")
struct MetricNameTests {
    @Test(
        "Metric names keep what the format allows",
        arguments: [
            ("a_b:c1", "a_b:c1"), ("kafka.lag-records", "kafka_lag_records"), ("1st", "_1st"), ("", "_"), ("é", "__"),
        ])
    func metrics(name: String, cleaned: String) {
        #expect(MetricName.metric(name) == cleaned)
    }

    @Test("A suffix is added once")
    func suffix() {
        #expect(MetricName.metric("reads", suffix: "_total") == "reads_total")
        #expect(MetricName.metric("reads_total", suffix: "_total") == "reads_total")
    }

    @Test("Labels are sorted and escaped, reserved names avoided, the later of two values counts")
    func labels() {
        #expect(MetricName.labels([]) == "")
        #expect(MetricName.labels([("b", "2"), ("a", "q\"\\\n"), ("b", "3")]) == #"{a="q\"\\\n",b="3"}"#)
        #expect(MetricName.labels([("__name__", "x"), ("le:x", "y")]) == #"{le_x="y",x__name__="x"}"#)
    }

    @Test(
        "Numbers are spelt as the format has them",
        arguments: [
            (0.0, "0"), (1.5, "1.5"), (-3.0, "-3"), (1e300, "1e+300"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
            (.nan, "NaN"),
        ])
    func numbers(value: Double, text: String) {
        #expect(MetricName.number(value) == text)
    }
}
