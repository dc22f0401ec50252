public import AppStore
public import Configuration
public import Contract
public import HTTPClient

/// The way from a call to Apple to an HTTPS request.
public struct AppleRoutes: Sendable {
    /// One request to verifyReceipt differs from the next in its body alone.
    private let verifyReceipt: [Environment: HTTPRequest]
    private let serverAPI: [Environment: HTTPEndpoint]

    /// The endpoints of the configuration, and the proxy on the way to them.
    ///
    /// - Throws: for URLs and a proxy that the HTTP client does not take.
    public init(_ settings: AppleSettings) throws(HTTPClientError) {
        let proxy: HTTPProxy? = if let proxy = settings.proxy { try HTTPProxy(url: proxy.revealed()) } else { nil }
        func endpoint(_ url: String) throws(HTTPClientError) -> HTTPEndpoint {
            try HTTPEndpoint(baseURL: url, proxy: proxy)
        }
        // Its answers are mostly base64, which compression costs more than it spares.
        func request(_ url: String) throws(HTTPClientError) -> HTTPRequest {
            try HTTPRequest(
                .post, endpoint(url), headers: [HTTPHeader(name: "content-type", value: "application/json")])
        }
        verifyReceipt = [
            .production: try request(settings.verifyReceiptProductionURL),
            .sandbox: try request(settings.verifyReceiptSandboxURL),
        ]
        serverAPI = [
            .production: try endpoint(settings.serverAPIProductionURL),
            .sandbox: try endpoint(settings.serverAPISandboxURL),
        ]
    }

    /// The configuration of a client for calls to Apple alone.
    ///
    /// - Parameter maxCalls: most calls at once.
    public static func clientConfiguration(_ settings: AppleSettings, maxCalls: Int) -> HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration()
        configuration.maxInFlight = maxCalls
        configuration.maxResponseBytes = AppStoreReply.maxBytes
        configuration.connectTimeout = settings.connectTimeout
        configuration.totalTimeout = settings.timeout
        configuration.caFile = settings.caFile?.path
        return configuration
    }

    /// The HTTPS call that an Apple call is made by.
    ///
    /// - Throws: for a path or a header that cannot be sent as it is.
    public func httpCall(_ call: AppleCall, token: UInt64) throws(HTTPClientError) -> HTTPCall {
        let body = call.bodyParts.isEmpty ? nil : HTTPBody(call.bodyParts)
        return HTTPCall(token: token, request: try request(call), body: body, usesFreshConnection: call.isFresh)
    }

    /// A call to verifyReceipt that asks about nothing. Apple answers it with a status.
    public func emptyReceiptCall(_ environment: Environment, token: UInt64) throws(HTTPClientError) -> HTTPCall {
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
}

extension AppStoreReply {
    /// The reply that the policy reads in the outcome of a call.
    public init(_ result: Result<HTTPResponse, HTTPFailure>) {
        switch result {
        case .success(let response):
            self = .response(
                httpStatus: response.status, retryAfter: response.header("retry-after"), body: response.body)
        case .failure(let failure): self = .failed(TransportFailure(failure))
        }
    }
}

extension TransportFailure {
    init(_ failure: HTTPFailure) {
        self =
            switch failure {
            case .dnsFailed, .connectFailed, .proxyFailed: .unreachable
            case .connectTimeout, .timedOut: .timedOut
            case .tlsFailed: .tls
            case .responseTooLarge: .tooLarge
            case .malformedResponse, .connectionLost: .interrupted
            case .invalidCall, .queueFull, .stopped, .libraryFault: .cancelled
            }
    }
}
