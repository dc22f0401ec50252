import HTTPTransport
import MetricsTestKit
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TransportMetricsTests {
    @Test func `responses, failures and connections are counted, and the gauges come back to zero`() async throws {
        let metrics = TestMetrics()
        try await Setup.run(
            metricsFactory: metrics, script: { $0.number >= 3 ? [.reset] : [.send(.ok("fine"))] }
        ) { setup in
            for _ in 0..<2 { _ = try await setup.get() }
            _ = try await setup.failure()
        }

        #expect(try metrics.expectTimer("http_transport_request_duration_seconds").values.count == 2)
        #expect(try metrics.expectCounter("http_transport_connections_opened_total").totalValue >= 1)
        let failures = try metrics.expectCounter("http_transport_errors_total", [("kind", "connection_lost")])
        #expect(failures.totalValue == 1)
        let inFlight = try metrics.expectGauge("http_transport_requests_in_flight")
        #expect(inFlight.values.contains(1))
        #expect(inFlight.lastValue == 0)
        #expect(try metrics.expectGauge("http_transport_requests_waiting").lastValue == 0)
    }
}
