extension HTTPTransportError {
    /// What to do about an error.
    public enum Disposition: Sendable, Hashable {
        /// Try the same again after a pause, if a request that arrives twice does no harm.
        case retry
        /// As ``retry``, and tell a person: the other side may not be who it should be.
        case retryAndAlert
        /// A person has to change the configuration.
        case configuration
        /// This request cannot succeed as it is.
        case reject
        /// Close the transport and make another.
        case recreate
        /// The calling program gave up itself, or used the transport after it was closed.
        case usage
    }

    /// A name that never changes, for metrics and logs.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case invalidConfiguration = "invalid_configuration"
        case resourcesExhausted = "resources_exhausted"
        case invalidURL = "invalid_url"
        case notHTTPS = "not_https"
        case invalidRequest = "invalid_request"
        case dnsFailed = "dns_failed"
        case connectFailed = "connect_failed"
        case connectTimeout = "connect_timeout"
        case tlsFailed = "tls_failed"
        case timedOut = "timed_out"
        case tooSlow = "too_slow"
        case responseTooLarge = "response_too_large"
        case malformedResponse = "malformed_response"
        case connectionLost = "connection_lost"
        case http2Stream = "http2_stream"
        case cancelled
        case closed
        case tooManyWaiting = "too_many_waiting"
        case libraryFault = "library_fault"
    }

    /// What to do about this error.
    public var disposition: Disposition {
        switch self {
        case .dnsFailed, .connectFailed, .connectTimeout, .timedOut, .tooSlow, .responseTooLarge, .malformedResponse,
            .connectionLost, .http2Stream, .tooManyWaiting, .tlsFailed(.handshake, _):
            .retry
        case .tlsFailed(.untrusted, _), .tlsFailed(.outOfDate, _), .tlsFailed(.wrongHost, _): .retryAndAlert
        case .invalidConfiguration, .tlsFailed(.authorityFile, _): .configuration
        case .invalidURL, .notHTTPS, .invalidRequest: .reject
        case .resourcesExhausted, .libraryFault: .recreate
        case .cancelled, .closed: .usage
        }
    }

    /// The same request may succeed later without anybody changing it.
    public var isRetryable: Bool { disposition == .retry || disposition == .retryAndAlert }

    /// This error's name for metrics and logs.
    public var kind: Kind {
        switch self {
        case .invalidConfiguration: .invalidConfiguration
        case .resourcesExhausted: .resourcesExhausted
        case .invalidURL: .invalidURL
        case .notHTTPS: .notHTTPS
        case .invalidRequest: .invalidRequest
        case .dnsFailed: .dnsFailed
        case .connectFailed: .connectFailed
        case .connectTimeout: .connectTimeout
        case .tlsFailed: .tlsFailed
        case .timedOut: .timedOut
        case .tooSlow: .tooSlow
        case .responseTooLarge: .responseTooLarge
        case .malformedResponse: .malformedResponse
        case .connectionLost: .connectionLost
        case .http2Stream: .http2Stream
        case .cancelled: .cancelled
        case .closed: .closed
        case .tooManyWaiting: .tooManyWaiting
        case .libraryFault: .libraryFault
        }
    }

    /// What libcurl said, where it was libcurl that failed.
    public var failure: CurlFailure? {
        switch self {
        case .dnsFailed(let failure), .connectFailed(let failure), .connectTimeout(let failure),
            .tlsFailed(_, let failure), .timedOut(let failure), .tooSlow(let failure), .malformedResponse(let failure),
            .connectionLost(_, let failure), .http2Stream(let failure), .libraryFault(let failure):
            failure
        default: nil
        }
    }
}
