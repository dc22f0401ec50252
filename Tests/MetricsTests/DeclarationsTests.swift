import Testing

@testable import Metrics

struct PrometheusTextTests {
    @Test(arguments: [
        ("a_b1", true), ("A", true), ("_x", true), ("", false), ("1st", false), ("a-b", false), ("a b", false),
        ("é", false), ("__name__", false), ("a\n", false),
    ])
    func `names have letters, digits and underscores`(name: String, isName: Bool) {
        #expect(PrometheusText.isName(name) == isName)
    }

    @Test func `label values are escaped, and a missing one is empty`() {
        #expect(PrometheusText.labels([], []) == "")
        #expect(PrometheusText.labels(["b", "a"], ["2", "q\"\\\n"]) == #"{b="2",a="q\"\\\n"}"#)
        #expect(PrometheusText.labels(["a", "b"], ["1"]) == #"{a="1",b=""}"#)
    }

    @Test func `an explanation stays on its line`() {
        #expect(
            PrometheusText.heading("x", kind: "gauge", help: "a\nb \\ \"c\"")
                == #"# HELP x a\nb \\ "c""# + "\n# TYPE x gauge")
    }

    @Test(arguments: [
        (0.0, "0"), (1.5, "1.5"), (-3.0, "-3"), (1e300, "1e+300"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
        (.nan, "NaN"),
    ])
    func `numbers are spelt as the format has them`(value: Double, text: String) {
        #expect(PrometheusText.number(value) == text)
    }

    @Test func `debug builds trap on names that the format does not take`() async {
        await #expect(processExitsWith: .failure) { _ = CounterDeclaration("reads", help: "No suffix.") }
        await #expect(processExitsWith: .failure) { _ = TimerDeclaration("call", help: "No unit.") }
        await #expect(processExitsWith: .failure) { _ = GaugeDeclaration("queue-length", help: "A dash.") }
        await #expect(processExitsWith: .failure) { _ = RecorderDeclaration("rows", help: "A", bounds: [2, 1]) }
        await #expect(processExitsWith: .failure) { _ = GaugeDeclaration("x", help: "Reserved.", labels: ["le"]) }
    }
}
