public import AppStore
public import Contract

/// The end of a fulfilment call.
public enum FulfilmentReply: Hashable, Sendable {
    /// Largest body that is read, in bytes. Nothing in it is looked at.
    public static let maxBytes = 64 << 10

    /// A whole HTTP response.
    /// - Parameters:
    ///   - key: The value of its header ``FulfilmentCall/keyHeader``.
    ///   - retryAfter: The value of its `Retry-After` header.
    case response(status: Int, key: String?, retryAfter: String?)
    /// No whole response.
    case failed(TransportFailure)
}

/// The meaning of a reply, for its grant and for the service. All of it is read here.
///
/// No reply ends a call with a "no", because the purchase was paid. Without a yes the grant is called for again.
public enum FulfilmentAnswer: Hashable, Sendable {
    /// 2xx: the service has the grant.
    case accepted
    /// 409 that names this grant: the service has it from an earlier call.
    case acceptedBefore
    /// 410 or 422: the service works, and refuses this grant. That says nothing about the next one.
    case refused(status: Int, retryAfter: Duration?)
    /// Any other reply. The service, or something between it and us, is in trouble.
    case failed(status: Int, retryAfter: Duration?)
    /// No reply.
    case silent(TransportFailure)

    /// Longest pause for which one reply may stop the calls for all grants. The grant of that reply waits as long as
    /// the reply asks.
    static let longestStop: Duration = .seconds(60)

    /// - Parameter key: The call's own.
    public init(_ reply: FulfilmentReply, to key: EventID, at now: Timestamp) {
        switch reply {
        case .response(200...299, _, _): self = .accepted
        case .response(409, key.rawValue, _): self = .acceptedBefore
        case .response(let status, _, let retryAfter):
            let pause = RetryAfter.moment(retryAfter, now: now).map { $0.since(now) }
            self =
                status == 410 || status == 422
                ? .refused(status: status, retryAfter: pause) : .failed(status: status, retryAfter: pause)
        case .failed(let failure): self = .silent(failure)
        }
    }

    public var isAccepted: Bool {
        switch self {
        case .accepted, .acceptedBefore: true
        case .refused, .failed, .silent: false
        }
    }

    public var isRefusal: Bool { if case .refused = self { true } else { false } }

    /// The meaning for the service.
    public var outcome: CallOutcome {
        switch self {
        case .accepted, .acceptedBefore, .refused: .replied
        case .failed(429, let pause): .limited(wait: pause.map { min($0, Self.longestStop) })
        case .failed(503, let pause?): .limited(wait: min(pause, Self.longestStop))
        case .failed(408, _), .failed(503, _), .failed(504, _), .silent(.timedOut): .overloaded
        case .silent(.cancelled): .unknown
        case .failed, .silent: .failed
        }
    }

    /// How long the service asks not to be called for this grant.
    public var retryAfter: Duration? {
        switch self {
        case .refused(_, let pause), .failed(_, let pause): pause
        case .accepted, .acceptedBefore, .silent: nil
        }
    }

    /// For people, without a full stop.
    public var words: String {
        switch self {
        case .accepted: "yes"
        case .acceptedBefore: "yes, from a call before"
        case .refused(let status, _): "HTTP \(status)"
        case .failed(409, _): "HTTP 409 that does not name this grant in \(FulfilmentCall.keyHeader)"
        case .failed(let status, _) where status == 401 || status == 403:
            "HTTP \(status), as from a service that does not know the secret of secretFiles, or whose clock differs from this host's"
        case .failed(let status, _): "HTTP \(status)"
        case .silent(.unreachable): "the service cannot be reached"
        case .silent(.timedOut): "no whole answer in time"
        case .silent(.tls): "TLS failed, or the certificate is not trusted (caFile)"
        case .silent(.interrupted): "the connection broke before the answer was whole"
        case .silent(.tooLarge): "the answer is too large"
        case .silent(.cancelled): "the call was given up"
        }
    }

    /// The labels of replies in metrics. Each app has a series for each, so there are few.
    public enum Label: String, Hashable, Sendable, CaseIterable {
        /// Also from a call before.
        case accepted
        case refused
        /// 429, and 503 with a pause.
        case limited
        /// Any other status.
        case failed
        case unanswered
    }

    public var label: Label {
        switch self {
        case .accepted, .acceptedBefore: .accepted
        case .refused: .refused
        case .failed: if case .limited = outcome { .limited } else { .failed }
        case .silent: .unanswered
        }
    }
}
