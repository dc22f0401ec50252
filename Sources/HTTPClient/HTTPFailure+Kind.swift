extension HTTPFailure {
    /// A name that never changes, for metrics and logs.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case dnsFailed = "dns_failed"
        case connectFailed = "connect_failed"
        case connectTimeout = "connect_timeout"
        case proxyFailed = "proxy_failed"
        case tlsFailed = "tls_failed"
        case timedOut = "timed_out"
        case responseTooLarge = "response_too_large"
        case malformedResponse = "malformed_response"
        case connectionLost = "connection_lost"
        case invalidCall = "invalid_call"
        case queueFull = "queue_full"
        case stopped
        case libraryFault = "library_fault"
    }

    /// This failure's name for metrics and logs.
    public var kind: Kind {
        switch self {
        case .dnsFailed: .dnsFailed
        case .connectFailed: .connectFailed
        case .connectTimeout: .connectTimeout
        case .proxyFailed: .proxyFailed
        case .tlsFailed: .tlsFailed
        case .timedOut: .timedOut
        case .responseTooLarge: .responseTooLarge
        case .malformedResponse: .malformedResponse
        case .connectionLost: .connectionLost
        case .invalidCall: .invalidCall
        case .queueFull: .queueFull
        case .stopped: .stopped
        case .libraryFault: .libraryFault
        }
    }

    /// libcurl's words, where libcurl failed.
    public var failure: CurlFailure? {
        switch self {
        case .dnsFailed(let failure), .connectFailed(let failure), .connectTimeout(let failure),
            .proxyFailed(_, let failure), .tlsFailed(_, let failure), .timedOut(let failure),
            .malformedResponse(let failure), .connectionLost(_, let failure), .libraryFault(let failure):
            failure
        case .responseTooLarge, .invalidCall, .queueFull, .stopped: nil
        }
    }
}

extension HTTPFailure: CustomStringConvertible {
    /// One line for people; names the host at most.
    public var description: String {
        switch self {
        case .dnsFailed(let failure): "the host's name cannot be looked up: \(failure)"
        case .connectFailed(let failure): "no connection: \(failure)"
        case .connectTimeout(let failure): "no connection in time: \(failure)"
        case .proxyFailed(let status, let failure):
            "the proxy does not connect\(status.map { ", status \($0)" } ?? ""): \(failure)"
        case .tlsFailed(.untrusted, let failure): "the server's certificate is not trusted: \(failure)"
        case .tlsFailed(.outOfDate, let failure): "the server's certificate is out of date: \(failure)"
        case .tlsFailed(.wrongHost, let failure): "the server's certificate is for another host: \(failure)"
        case .tlsFailed(.authorityFile, let failure): "the file of trusted certificates cannot be read: \(failure)"
        case .tlsFailed(.handshake, let failure): "no TLS connection: \(failure)"
        case .timedOut(let failure): "no whole response in time: \(failure)"
        case .responseTooLarge(.headers): "the response's headers are too large"
        case .responseTooLarge(.body): "the response is too large"
        case .malformedResponse(let failure): "the response cannot be read: \(failure)"
        case .connectionLost(_, let failure): "the connection broke: \(failure)"
        case .invalidCall(let reason): "the call cannot be sent: \(reason)"
        case .queueFull: "too many calls wait for a connection"
        case .stopped: "the client was stopped"
        case .libraryFault(let failure): "libcurl failed: \(failure)"
        }
    }
}
