/// What came of one call to Apple.
public enum VerifyReceiptReply: Hashable, Sendable {
    /// A whole HTTP response, whatever it says.
    ///
    /// - Parameter retryAfter: the value of its `Retry-After` header, as it came.
    case response(httpStatus: Int, retryAfter: String?, body: [UInt8])
    /// No whole response.
    case failed(TransportFailure)
}

/// Why there is no response. The raw values label metrics and logs.
public enum TransportFailure: String, Hashable, Sendable, CaseIterable {
    /// The name does not resolve, or no connection comes about.
    case unreachable
    /// No connection or no response within the limit.
    case timedOut
    /// The TLS handshake failed, or the certificate is not the host's.
    case tls
    /// The connection broke before the response was whole.
    case interrupted
    /// The response is larger than what is taken.
    case tooLarge
    /// The call was given up on our side.
    case cancelled
}
