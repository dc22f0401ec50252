public import Contract

public enum AppStoreReply: Hashable, Sendable {
    /// Largest body that is read, in bytes. An answer repeats every renewal: a subscriber of many years has about a
    /// megabyte. The answer for a receipt with 1.5 MB of DER has about 6 MB.
    public static let maxBytes = 8 << 20

    /// A whole HTTP response, whatever it says.
    /// - Parameter retryAfter: The value of its `Retry-After` header, as it came.
    case response(httpStatus: Int, retryAfter: String?, body: [UInt8])
    /// No whole response.
    case failed(TransportFailure)
}

/// Why there is no response. The raw values label metrics and logs.
public enum TransportFailure: String, Hashable, Sendable, CaseIterable {
    /// The name does not resolve, or no connection comes about.
    case unreachable
    /// No connection or no response within the limit.
    case timedOut = "timed_out"
    /// The TLS handshake failed, or the certificate is not the host's.
    case tls
    /// The connection broke before the response was whole.
    case interrupted
    /// The response is larger than what is taken.
    case tooLarge = "too_large"
    /// The call was given up on our side.
    case cancelled
}

extension CallOutcome {
    /// - Parameters:
    ///   - verdict: The conclusion from the reply, if it was the end: a 200 can hold "try later" (21005, 21009 and
    ///     others) or no answer at all (HTML, or cut off).
    ///   - now: When the reply came.
    public init(_ reply: AppStoreReply, from service: Endpoint.Service, concluded verdict: Verdict?, now: Timestamp) {
        switch reply {
        case .failed(.unreachable), .failed(.tls), .failed(.interrupted): self = .failed
        case .failed(.timedOut): self = .overloaded
        // It is this answer that is large; the next one need not be.
        case .failed(.tooLarge): self = .answered
        case .failed(.cancelled): self = .unknown
        case .response(200, _, _):
            switch verdict {
            case .retry(.noAnswer, _), .retry(.temporarilyUnable, _): self = .failed
            default: self = .answered
            }
        case .response(429, let retryAfter, _):
            self = .limited(wait: RetryAfter.moment(retryAfter, now: now)?.since(now))
        case .response(let status, _, _): self = Self.outcome(ofHTTPStatus: status, from: service)
        }
    }

    /// verifyReceipt sends 200 with every answer, so an intermediary sends any other status. It is a failure unless it
    /// concerns this request alone. The App Store Server API answers with 4xx.
    private static func outcome(ofHTTPStatus status: Int, from service: Endpoint.Service) -> CallOutcome {
        switch status {
        case 400, 413...414, 431: .answered
        case 408, 503...504: .overloaded
        case 400...499: service == .serverAPI ? .answered : .failed
        default: .failed
        }
    }
}

/// The `Retry-After` header: seconds or an HTTP date (RFC 9110 section 10.2.3), or what the App Store sends, UNIX time
/// in milliseconds
/// ([RateLimitExceededError](https://developer.apple.com/documentation/appstoreserverapi/ratelimitexceedederror)).
package enum RetryAfter {
    /// Longest wait that is believed. A header cannot put a submission off for hours.
    package static let maxWait: Duration = .seconds(15 * 60)
    /// Numbers above are UNIX times: in seconds, such a delay would be 31 years.
    private static let leastUnixSeconds: Int64 = 1_000_000_000
    /// Numbers above are UNIX times in milliseconds: in seconds, such a time would be in the year 5138.
    private static let leastUnixMilliseconds: Int64 = 100_000_000_000

    /// The moment that a header names, no earlier than now and no later than ``maxWait`` from now. Nil if the header is
    /// absent or has none of the three forms.
    package static func moment(_ header: String?, now: Timestamp) -> Timestamp? {
        guard let text = header?.drop(while: { $0 == " " }), !text.isEmpty else { return nil }
        guard let named = number(text, now: now) ?? date(text) else { return nil }
        return min(max(named, now), now.advanced(by: maxWait))
    }

    private static func number(_ text: Substring, now: Timestamp) -> Timestamp? {
        guard let number = Int64(text) else { return nil }
        if number > leastUnixMilliseconds { return Timestamp(milliseconds: number) }
        if number > leastUnixSeconds { return Timestamp(milliseconds: number * 1000) }
        return now.advanced(by: .seconds(number))
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the form that senders must use.
    private static func date(_ text: Substring) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", parts[1].utf8.count == 2,
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
