/// Why a call has no response. It carries no header, no body and no more of the URL than its host.
public struct HTTPFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Tells the caller's next step, by a name that never changes, for metrics and logs.
    public enum Kind: String, Sendable, CaseIterable {
        /// The host's or the proxy's name could not be looked up. Nothing was sent; try again later.
        case dnsFailed = "dns_failed"
        /// No connection: refused, unreachable, or out of descriptors. Nothing was sent; try again later.
        case connectFailed = "connect_failed"
        /// No usable connection (name, TCP, proxy and TLS) within the time limit. Nothing was sent; try again later.
        case connectTimeout = "connect_timeout"
        /// The proxy did not tunnel. Nothing was sent; try again later, and alert a person.
        case proxyFailed = "proxy_failed"
        /// No trustworthy connection. Nothing was sent; try again later, and alert a person.
        case tlsFailed = "tls_failed"
        /// No whole response within the time limit. The server may have acted on the call; try again if that is
        /// harmless.
        case timedOut = "timed_out"
        /// The response's headers or decompressed body are over the limit. To try again soon is unlikely to help.
        case responseTooLarge = "response_too_large"
        /// The bytes that came are not HTTP, or not as many as its headers announce. As for ``timedOut``.
        case malformedResponse = "malformed_response"
        /// The connection ended before the response was whole. As for ``timedOut``.
        case connectionLost = "connection_lost"
        /// Too many calls wait already. Nothing was sent; try again later.
        case queueFull = "queue_full"
        /// The client was stopped. The server may have acted on the call.
        case stopped
        /// libcurl failed in a way that is none of the above: out of memory, or a fault of this module. Make a new
        /// client.
        case libraryFault = "library_fault"
    }

    public let kind: Kind
    private let text: String
    /// libcurl's words, where libcurl failed.
    public let failure: CurlFailure?

    public init(_ kind: Kind, _ text: String, _ failure: CurlFailure? = nil) {
        self.kind = kind
        self.text = text
        self.failure = failure
    }

    public var description: String { failure.map { "\(text): \($0)" } ?? text }

    public static let stopped = HTTPFailure(.stopped, "the client was stopped")
    static let headersTooLarge = HTTPFailure(.responseTooLarge, "the response's headers are too large")
    static let bodyTooLarge = HTTPFailure(.responseTooLarge, "the response is too large")
}
