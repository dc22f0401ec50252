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

    /// The caller's next step.
    public enum Disposition: Sendable, Hashable {
        /// Try the same again after a pause, if a request that arrives twice does no harm.
        case retry
        /// As ``retry``, and tell a person: the other side may not be who it should be.
        case retryAndAlert
        /// A person has to change the configuration.
        case configuration
        /// This call cannot succeed as it is.
        case reject
        /// Stop the client and make another one.
        case recreate
        /// The program itself stopped the client.
        case stopped
    }

    /// The caller's next step for this failure.
    public var disposition: Disposition {
        switch self {
        case .dnsFailed, .connectFailed, .connectTimeout, .tlsFailed(.handshake, _), .timedOut, .responseTooLarge,
            .malformedResponse, .connectionLost, .queueFull:
            .retry
        case .proxyFailed, .tlsFailed(.untrusted, _), .tlsFailed(.outOfDate, _), .tlsFailed(.wrongHost, _):
            .retryAndAlert
        case .tlsFailed(.authorityFile, _): .configuration
        case .invalidCall: .reject
        case .libraryFault: .recreate
        case .stopped: .stopped
        }
    }

    /// Whether a request may have reached the server.
    public var mayHaveArrived: Bool {
        switch self {
        case .timedOut, .responseTooLarge, .malformedResponse, .stopped, .libraryFault: true
        case .connectionLost(let requestSent, _): requestSent
        case .dnsFailed, .connectFailed, .connectTimeout, .proxyFailed, .tlsFailed, .invalidCall, .queueFull: false
        }
    }
}
