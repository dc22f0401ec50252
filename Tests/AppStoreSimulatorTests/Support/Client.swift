import Contract
import Foundation
import HTTPClient
import Logging
import Metrics
import Scheduling
import Synchronization
import Testing
import Threading

/// One HTTPS connection at a time, which verifies the server's certificate, and its address, against a CA file.
final class Client: Sendable {
    struct Answer: Sendable {
        let response: HTTPResponse

        var code: Int { response.status }
        var body: [UInt8] { response.body }
        var status: Int? { (try? members(body))?["status"] as? Int }
        var errorCode: Int? { (try? members(body))?["errorCode"] as? Int }

        func header(_ name: String) -> String? { response.header(name) }

        /// The payload of `signedTransactionInfo`.
        var transaction: [String: Any]? {
            (try? members(body))?["signedTransactionInfo"].flatMap { $0 as? String }
                .flatMap { try? SignedData($0) }?.payload
        }
    }

    private let client: HTTPClient
    private let origin: String
    private let outcomes: Outcomes

    init(to url: String, caFile: String) throws {
        let outcomes = try Outcomes()
        var configuration = HTTPClientConfiguration()
        configuration.maxInFlight = 1
        configuration.caFile = caFile
        configuration.connectTimeout = .seconds(60)
        configuration.totalTimeout = .seconds(120)
        configuration.maxResponseBytes = 64 << 20
        client = try HTTPClient(
            configuration: configuration, logger: Logger(label: "test"), registry: PrometheusRegistry()
        ) { outcomes.put($0) }
        origin = url.split(separator: "/").prefix(2).joined(separator: "//")
        self.outcomes = outcomes
    }

    deinit { client.stop() }

    func send(
        _ method: String = "POST", _ path: String = "/verifyReceipt", _ body: String = "",
        authorization: String? = nil, timeout: Duration? = nil
    ) throws -> Answer {
        let headers = authorization.map { [HTTPHeader(name: "Authorization", value: $0)] } ?? []
        let request = try HTTPRequest(
            method == "GET" ? .get : .post, HTTPEndpoint(baseURL: origin), path: path, headers: headers)
        let body = method == "GET" ? nil : HTTPBody([Array(body.utf8)[...]])
        client.send([HTTPCall(token: 0, request: request, body: body, timeout: timeout)])
        return Answer(response: try outcomes.next().get())
    }

    func verify(_ receipt: String, timeout: Duration? = nil) throws -> Answer {
        try send("POST", "/verifyReceipt", "{\"receipt-data\":\"\(receipt)\"}", timeout: timeout)
    }

    /// The failure of a call.
    func failure(verifying receipt: String, timeout: Duration? = nil) throws -> HTTPFailure {
        try #require(throws: HTTPFailure.self) { try verify(receipt, timeout: timeout) }
    }

    /// Hands the outcome of the one call that is under way to its caller.
    private final class Outcomes: Sendable {
        private let outcome = Mutex<Result<HTTPResponse, HTTPFailure>?>(nil)
        private let wake: WakeDescriptor

        init() throws { wake = try WakeDescriptor() }

        func put(_ outcomes: [HTTPOutcome]) {
            outcome.withLock { $0 = outcomes.last?.result }
            wake.signal()
        }

        func next() throws -> Result<HTTPResponse, HTTPFailure> {
            try #require(wake.wait(until: .now + .seconds(180)))
            return try #require(outcome.withLock { $0.take() })
        }
    }
}
