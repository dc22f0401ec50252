public import Purchases

/// What came of one call to Apple.
public enum AppStoreReply: Hashable, Sendable {
    /// Largest body that is to be taken. An answer repeats every renewal: a subscriber of many years has about a megabyte.
    public static let maxBytes = 8 << 20

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

extension AppStoreReply {
    /// Until when Apple asks us not to call, if it does (HTTP 429 with `Retry-After`).
    public func pause(now: Timestamp) -> Timestamp? {
        guard case .response(429, let retryAfter, _) = self else { return nil }
        return RetryAfter.moment(retryAfter, now: now)
    }
}
