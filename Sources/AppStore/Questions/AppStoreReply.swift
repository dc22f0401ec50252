public import Contract

public enum AppStoreReply: Hashable, Sendable {
    /// Largest body that is read, in bytes. A reply repeats every renewal: a subscriber of many years has about a
    /// megabyte. The reply for a receipt with 1.5 MB of DER has about 6 MB.
    public static let maxBytes = 8 << 20

    /// A whole HTTP response, whatever it says.
    /// - Parameter retryAfter: The value of its `Retry-After` header, as it came.
    case response(httpStatus: Int, retryAfter: String?, body: [UInt8])
    /// No whole response.
    case failed(TransportFailure)

    /// Whether it is a reply of verifyReceipt, and no page of something in between.
    public var isOfVerifyReceipt: Bool {
        guard case .response(200, _, let body) = self else { return false }
        return VerifyReceiptResponse(json: body) != nil
    }
}

/// Why there is no reply. The raw values label metrics and logs.
public enum TransportFailure: String, Hashable, Sendable, CaseIterable {
    /// The name does not resolve, or no connection comes about.
    case unreachable
    /// No connection or no reply within the limit.
    case timedOut = "timed_out"
    /// The TLS handshake failed, or the certificate is not the host's.
    case tls
    /// The connection broke before the reply was whole.
    case interrupted
    /// The reply is larger than the limit.
    case tooLarge = "too_large"
    /// The call was given up on our side.
    case cancelled
}

/// The meaning of a reply: for the question, and for the endpoint that it came from. One reader says both at once.
public struct ReplyMeaning: Sendable {
    public let step: QuestionStep
    public let outcome: CallOutcome
    /// Apple's own number in the reply: the status of verifyReceipt, or the error code of the App Store Server API.
    public private(set) var code: Int?

    init(step: QuestionStep, outcome: CallOutcome) {
        self.step = step
        self.outcome = outcome
    }

    /// The same, of a reply with a number.
    func saying(_ code: Int?) -> ReplyMeaning {
        var meaning = self
        meaning.code = code
        return meaning
    }

    /// The endpoint replied, whatever it said.
    static func replied(_ step: QuestionStep) -> ReplyMeaning { ReplyMeaning(step: step, outcome: .replied) }

    /// Nothing was said about the evidence.
    /// - Parameter notBefore: The moment that Apple named, if it did.
    static func retry(
        _ cause: RetryCause, notBefore: Timestamp? = nil, _ outcome: CallOutcome
    ) -> ReplyMeaning {
        ReplyMeaning(step: .verdict(.retry(cause, notBefore: notBefore)), outcome: outcome)
    }

    /// HTTP 429.
    static func rateLimited(until moment: Timestamp?, now: Timestamp) -> ReplyMeaning {
        .retry(.rateLimited, notBefore: moment, .limited(wait: moment?.since(now)))
    }

    /// No reply, from either service.
    static func failed(_ failure: TransportFailure) -> ReplyMeaning {
        switch failure {
        case .unreachable, .tls, .interrupted: .retry(.unreachable, .failed)
        case .timedOut: .retry(.unreachable, .overloaded)
        // It is this reply that is large; the next one need not be.
        case .tooLarge: .retry(.noAnswer, .replied)
        case .cancelled: .retry(.unreachable, .unknown)
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
