import AppStore
import Configuration
import Contract
import HTTPClient

/// The way from a call to Apple to an HTTPS request, and back from its outcome to a reply.
struct AppleRoutes: Sendable {
    private let verifyReceipt: [Environment: HTTPRequest]
    private let serverAPI: [Environment: HTTPEndpoint]

    /// - Throws: for URLs and a proxy that the HTTP client does not take.
    init(_ settings: AppleSettings) throws(HTTPClientError) {
        let proxy: HTTPProxy? = if let proxy = settings.proxy { try HTTPProxy(url: proxy.revealed()) } else { nil }
        func endpoint(_ url: String) throws(HTTPClientError) -> HTTPEndpoint {
            try HTTPEndpoint(baseURL: url, proxy: proxy)
        }
        let headers = [HTTPHeader(name: "content-type", value: "application/json")]
        verifyReceipt = [
            .production: try HTTPRequest(.post, endpoint(settings.verifyReceiptProductionURL), headers: headers),
            .sandbox: try HTTPRequest(.post, endpoint(settings.verifyReceiptSandboxURL), headers: headers),
        ]
        serverAPI = [
            .production: try endpoint(settings.serverAPIProductionURL),
            .sandbox: try endpoint(settings.serverAPISandboxURL),
        ]
    }

    /// A client for calls to Apple alone.
    static func configuration(_ settings: AppleSettings) -> HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration()
        configuration.connectTimeout = settings.connectTimeout
        configuration.totalTimeout = settings.timeout
        configuration.caFile = settings.caFile?.path
        configuration.maxResponseBytes = AppStoreReply.maxBytes
        return configuration
    }

    /// The HTTPS call that an Apple call is made by.
    func httpCall(_ call: AppleCall, token: UInt64) throws(HTTPClientError) -> HTTPCall {
        let body = call.bodyParts.isEmpty ? nil : HTTPBody(call.bodyParts)
        return HTTPCall(token: token, request: try request(call), body: body, usesFreshConnection: call.isFresh)
    }

    /// A call to verifyReceipt that asks about nothing. Apple answers it with a status.
    func emptyReceiptCall(_ environment: Environment, token: UInt64) throws(HTTPClientError) -> HTTPCall {
        guard let request = verifyReceipt[environment] else { throw .invalidURL }
        return HTTPCall(token: token, request: request, body: HTTPBody([Array("{}".utf8)]))
    }

    private func request(_ call: AppleCall) throws(HTTPClientError) -> HTTPRequest {
        let environment = call.endpoint.environment
        switch call.endpoint.service {
        case .verifyReceipt:
            guard let request = verifyReceipt[environment] else { throw .invalidURL }
            return request
        case .serverAPI:
            guard let endpoint = serverAPI[environment] else { throw .invalidURL }
            let headers = call.headers.map { HTTPHeader(name: $0.name, value: $0.value) }
            return try HTTPRequest(.get, endpoint, path: call.path, headers: headers, acceptsGzip: true)
        }
    }

    /// The reply that the policy reads in the outcome of a call.
    static func reply(_ result: Result<HTTPResponse, HTTPFailure>) -> AppStoreReply {
        switch result {
        case .success(let response):
            .response(httpStatus: response.status, retryAfter: response.header("retry-after"), body: response.body)
        case .failure(let failure): .failed(TransportFailure(failure))
        }
    }
}

extension TransportFailure {
    /// The meaning of an HTTP client's failure to a verification.
    init(_ failure: HTTPFailure) {
        self =
            switch failure {
            case .dnsFailed, .connectFailed, .proxyFailed, .invalidCall, .queueFull, .libraryFault: .unreachable
            case .connectTimeout, .timedOut: .timedOut
            case .tlsFailed: .tls
            case .connectionLost, .malformedResponse: .interrupted
            case .responseTooLarge: .tooLarge
            case .stopped: .cancelled
            }
    }

    /// For people.
    var words: String {
        switch self {
        case .unreachable: "the host cannot be reached"
        case .timedOut: "it took too long"
        case .tls: "the TLS connection failed, or its certificate is not trusted (GRANTOR_APPLE_CA_FILE)"
        case .interrupted: "the connection broke"
        case .tooLarge: "the answer is too large"
        case .cancelled: "the call was given up"
        }
    }
}
