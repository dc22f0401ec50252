/// Why a call has no response, cut by what the caller can do about it.
///
/// No case carries a header, a body or more of the URL than its host.
public enum HTTPFailure: Error, Sendable, Hashable {
    /// The host's or the proxy's name could not be looked up. Nothing was sent; try again later.
    case dnsFailed(CurlFailure)
    /// No connection: refused, unreachable, or out of descriptors. Nothing was sent; try again later.
    case connectFailed(CurlFailure)
    /// No usable connection (name, TCP, proxy and TLS) within the time limit. Nothing was sent; try again later.
    case connectTimeout(CurlFailure)
    /// The proxy did not tunnel; `status` is its answer, if it gave one. Nothing was sent; try again later, and tell a
    /// person.
    case proxyFailed(status: Int?, CurlFailure)
    /// No trustworthy connection. Nothing was sent. Try again later, and tell a person unless it was the handshake.
    case tlsFailed(TLSReason, CurlFailure)
    /// Sent, but no whole response within the time limit. The server may have acted on it; try again if that is
    /// harmless.
    case timedOut(CurlFailure)
    /// The response's headers or decompressed body are over the limit. To try again soon is unlikely to help.
    case responseTooLarge(ResponsePart)
    /// The bytes that came are not HTTP, or not as many as its headers announce. As for ``timedOut(_:)``.
    case malformedResponse(CurlFailure)
    /// The connection ended before the response was whole. As for ``timedOut(_:)`` if `requestSent`, else nothing
    /// arrived.
    case connectionLost(requestSent: Bool, CurlFailure)
    /// The call cannot be sent as given. The caller corrects it.
    case invalidCall(String)
    /// ``HTTPClientConfiguration/maxQueued`` calls wait already. Nothing was sent; try again later.
    case queueFull
    /// The client was stopped. The server may have acted on the call.
    case stopped
    /// libcurl failed in a way that is none of the above: out of memory, or a fault of this module. Make a new client.
    case libraryFault(CurlFailure)

    /// The reason for a TLS failure.
    public enum TLSReason: String, Sendable, Hashable, CaseIterable {
        /// No chain to a trusted authority: a person looks whether the authority changed or somebody listens in.
        case untrusted
        /// The certificate is past its end or before its begin: a person looks at the clock and the server.
        case outOfDate
        /// The certificate is for another host: a person looks at the URL and the server.
        case wrongHost
        /// The authorities' file cannot be read: the operator corrects the configuration.
        case authorityFile
        /// No agreement on a version or cipher, or the connection broke: passes, or a person looks at the server.
        case handshake
    }

    /// A part of a response that has a limit of its own.
    public enum ResponsePart: String, Sendable, Hashable, CaseIterable {
        /// Limited by ``HTTPClientConfiguration/maxHeaderBytes``.
        case headers
        /// Limited by ``HTTPClientConfiguration/maxResponseBytes``.
        case body
    }

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
