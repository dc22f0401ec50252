import Testing

@testable import Metrics

struct PrometheusTextTests {
    @Test(
        "Names have letters, digits and underscores",
        arguments: [
            ("a_b1", true), ("A", true), ("_x", true), ("", false), ("1st", false), ("a-b", false), ("a b", false),
            ("é", false), ("__name__", false), ("a\n", false),
        ])
    func names(name: String, isName: Bool) {
        #expect(PrometheusText.isName(name) == isName)
    }

    @Test("Label values are escaped, and a missing one is empty")
    func labels() {
        #expect(PrometheusText.labels([], []) == "")
        #expect(PrometheusText.labels(["b", "a"], ["2", "q\"\\\n"]) == #"{b="2",a="q\"\\\n"}"#)
        #expect(PrometheusText.labels(["a", "b"], ["1"]) == #"{a="1",b=""}"#)
    }

    @Test("An explanation stays on its line")
    func explanation() {
        #expect(
            PrometheusText.heading("x", kind: "gauge", help: "a\nb \\ \"c\"")
                == #"# HELP x a\nb \\ "c""# + "\n# TYPE x gauge")
    }

    @Test(
        "Numbers are spelt as the format has them",
        arguments: [
            (0.0, "0"), (1.5, "1.5"), (-3.0, "-3"), (1e300, "1e+300"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
            (.nan, "NaN"),
        ])
    func numbers(value: Double, text: String) {
        #expect(PrometheusText.number(value) == text)
    }

    @Test("Debug builds trap on names that the format does not take")
    func traps() async {
        await #expect(processExitsWith: .failure) { _ = CounterDeclaration("reads", help: "No suffix.") }
        await #expect(processExitsWith: .failure) { _ = TimerDeclaration("call", help: "No unit.") }
        await #expect(processExitsWith: .failure) { _ = GaugeDeclaration("queue-length", help: "A dash.") }
        await #expect(processExitsWith: .failure) { _ = RecorderDeclaration("rows", help: "A", bounds: [2, 1]) }
        await #expect(processExitsWith: .failure) { _ = GaugeDeclaration("x", help: "Reserved.", labels: ["le"]) }
    }
}
