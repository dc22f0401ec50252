import Metrics
import Testing

@testable import Configuration
@testable import Worker

@Suite("The place of health and metrics")
struct WorkerHealthTests {
    private func failure(on host: String) -> WorkerFailure? {
        #expect(throws: WorkerFailure.self) {
            try WorkerHealth(HostAndPort(host: host, port: 0), registry: PrometheusRegistry())
        }
    }

    @Test("An address that this host does not have yet ends a worker that may work later")
    func notYet() {
        // Kept for documents (RFC 5737): no host has it.
        guard case .failed(let detail) = failure(on: "192.0.2.1") else {
            Issue.record("not .failed")
            return
        }
        #expect(detail.contains("Cannot assign requested address") && detail.contains("GRANTOR_HTTP_BIND"))
    }

    @Test("A text that is no host's address needs a person")
    func never() {
        guard case .configuration(let detail) = failure(on: "fe80::1%nowhere") else {
            Issue.record("not .configuration")
            return
        }
        #expect(detail.contains("GRANTOR_HTTP_BIND"))
    }
}
