import Testing

@testable import Worker

@Suite("Health reports")
struct HealthReportTests {
    @Test("A report passes only if all its checks do")
    func passes() {
        let good = HealthReport(checks: [HealthCheck("kafka", passed: true), HealthCheck("ledger", passed: true)])
        let bad = HealthReport(checks: [HealthCheck("kafka", passed: true), HealthCheck("ledger", passed: false)])
        #expect(good.passed && !bad.passed)
        #expect(good.json == #"{"status":"ok","checks":{"kafka":"ok","ledger":"ok"}}"# + "\n")
        #expect(bad.json == #"{"status":"failing","checks":{"kafka":"ok","ledger":"failing"}}"# + "\n")
    }

    @Test("Without checks it passes")
    func empty() {
        #expect(HealthReport(checks: []).json == #"{"status":"ok","checks":{}}"# + "\n")
    }

    @Test("A name cannot break the JSON")
    func names() {
        #expect(HealthReport(checks: [HealthCheck("a\"b\n", passed: true)]).json.contains(#"{"ab":"ok"}"#))
    }
}
