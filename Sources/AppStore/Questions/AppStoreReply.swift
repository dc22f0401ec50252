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
