/// Why there is no response, cut by what the caller can do about it.
///
/// No case carries a header, a body or more of the URL than its host.
public enum HTTPTransportError: Error, Sendable, Hashable {
    /// A field of the configuration is out of its range or unusable. The operator corrects it.
    case invalidConfiguration(field: String, reason: String)
    /// The operating system gave no descriptor, thread or memory. The caller stops, its supervisor starts it again.
    case resourcesExhausted(String, errno: Int32)
    /// The URL cannot be read, or carries a user name or password. The caller corrects it.
    case invalidURL
    /// The URL's scheme is not `https`. The caller corrects it.
    case notHTTPS
    /// A header, the body or the time limit cannot be sent as given. The caller corrects the request.
    case invalidRequest(String)
    /// The host's name could not be looked up. Nothing was sent; try again later.
    case dnsFailed(CurlFailure)
    /// No connection: refused, unreachable, or out of descriptors. Nothing was sent; try again later.
    case connectFailed(CurlFailure)
    /// No usable connection (name, TCP and TLS) within the time limit. Nothing was sent; try again later.
    case connectTimeout(CurlFailure)
    /// No trustworthy connection. Nothing was sent. Try again later, and tell a person unless it was the handshake.
    case tlsFailed(TLSReason, CurlFailure)
    /// Sent, but no whole response within the total time. The server may have acted on it; try again if that is harmless.
    case timedOut(CurlFailure)
    /// The exchange crawled below the minimum speed. As for ``timedOut(_:)``.
    case tooSlow(CurlFailure)
    /// The response's headers or decompressed body are over the limit. Trying again soon is unlikely to help.
    case responseTooLarge(ResponsePart)
    /// What came is not HTTP, or not what its headers announce. As for ``timedOut(_:)``.
    case malformedResponse(CurlFailure)
    /// The connection ended before the response was whole. As for ``timedOut(_:)`` if `requestSent`, else nothing arrived.
    case connectionLost(requestSent: Bool, CurlFailure)
    /// The HTTP/2 stream or connection was reset. As for ``timedOut(_:)``; libcurl 7.88 resets streams by itself at times.
    case http2Stream(CurlFailure)
    /// The calling task was cancelled. The server may have acted on the request.
    case cancelled
    /// The transport was shut down. The server may have acted on a request that was in flight.
    case closed
    /// As many requests wait for a connection as may. Nothing was sent; slow down, then try again.
    case tooManyWaiting
    /// libcurl failed in a way that is none of the above: out of memory, or a fault of this module.
    case libraryFault(CurlFailure)

    /// What was wrong with TLS.
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
        /// Limited by ``HTTPTransportConfiguration/maxHeaderBytes``.
        case headers
        /// Limited by ``HTTPTransportConfiguration/maxResponseBytes``.
        case body
    }
}

/// What libcurl said about a failure.
public struct CurlFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// libcurl's number for it, see [libcurl-errors](https://curl.se/libcurl/c/libcurl-errors.html).
    public let code: Int32
    /// A sentence for a person, at most 255 bytes; names the host at most.
    public let text: String

    /// A failure, as tests make one.
    public init(code: Int32, text: String) {
        self.code = code
        self.text = text
    }

    /// `text (libcurl code)`.
    public var description: String { "\(text) (libcurl \(code))" }
}
