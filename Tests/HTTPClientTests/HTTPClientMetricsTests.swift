import HTTPClient
import Metrics
import Testing

@Suite(.timeLimit(.minutes(5)))
struct HTTPClientMetricsTests {
    @Test func `responses, failures and connections are counted, and the gauges come back to zero`() throws {
        let registry = PrometheusRegistry()
        try Setup.run(registry: registry, script: { $0.number >= 3 ? [.reset] : [.send(.ok("fine"))] }) { setup in
            for _ in 0..<2 { _ = try setup.get() }
            _ = try setup.failure()
        }

        let lines = registry.render().split(separator: "\n")
        #expect(lines.contains("http_transport_request_duration_seconds_count 2"))
        // The reset one is sent again over a new connection, if it was the kept one that was reset.
        #expect(lines.contains { $0.hasPrefix("http_transport_connections_opened_total ") && !$0.hasSuffix(" 0") })
        #expect(lines.contains(#"http_transport_errors_total{kind="connection_lost"} 1"#))
        #expect(lines.contains("http_transport_requests_in_flight 0"))
        #expect(lines.contains("http_transport_requests_waiting 0"))
    }
}
