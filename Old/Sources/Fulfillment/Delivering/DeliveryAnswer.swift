import AppStore
import JSONReading
import Purchases

/// Why a fulfilment call did not help. The raw values label metrics and name tries in the ledger.
enum DeliveryFailure: String, Hashable, Sendable, CaseIterable {
    /// 409, and nothing that says that it is about this grant.
    case conflict
    /// Another 4xx.
    case refused
    /// 429.
    case limited
    /// 3xx: calls go where configuration says and nowhere else.
    case redirected
    /// 5xx.
    case failed
    /// Any other status.
    case unexpected
    case unreachable, timedOut, tls, interrupted, tooLarge
}

/// What a reply says about a delivery.
enum DeliveryAnswer: Hashable, Sendable {
    /// The service has the grant.
    case done
    /// The service has it from a call before.
    case doneBefore
    case failed(DeliveryFailure, status: Int? = nil, retryAfter: Duration? = nil)
    /// The call was given up on our side.
    case unknown

    /// Judges a reply. Only 2xx is a yes, and 409 if it names this very grant: everything else may not have been applied.
    init(_ reply: DeliveryReply, to grantID: GrantID, now: Timestamp) {
        switch reply {
        case .response(200...299, _, _, _): self = .done
        case .response(409, let key, _, let body) where Self.names(grantID, key, body): self = .doneBefore
        case .response(let status, _, let retryAfter, _):
            self = .failed(
                Self.failure(status), status: status,
                retryAfter: RetryAfter.moment(retryAfter, now: now).map { $0.since(now) })
        case .failed(.cancelled): self = .unknown
        case .failed(let failure): self = Self.answer(without: failure)
        }
    }

    /// Whether an answer says that it is about this grant, in its header or in a member of its body.
    private static func names(_ grantID: GrantID, _ key: String?, _ body: [UInt8]) -> Bool {
        if key == grantID.rawValue { return true }
        // Nothing can be learnt from what is no JSON.
        guard let json = try? StrictJSON(body), json.flaws.isEmpty else { return false }
        return ["idempotencyKey", "grantId"].contains { json.members[$0] == .string(grantID.rawValue) }
    }

    private static func failure(_ status: Int) -> DeliveryFailure {
        switch status {
        case 409: .conflict
        case 429: .limited
        case 300...399: .redirected
        case 400...499: .refused
        case 500...599: .failed
        default: .unexpected
        }
    }

    private static func answer(without failure: TransportFailure) -> DeliveryAnswer {
        switch failure {
        case .unreachable: .failed(.unreachable)
        case .timedOut: .failed(.timedOut)
        case .tls: .failed(.tls)
        case .interrupted: .failed(.interrupted)
        case .tooLarge: .failed(.tooLarge)
        case .cancelled: .unknown
        }
    }

    /// What it says about the service, whatever it says about this grant.
    var outcome: CallOutcome {
        switch self {
        case .done, .doneBefore: .answered
        case .unknown: .unknown
        case .failed(.limited, _, let retryAfter): .limited(wait: retryAfter)
        case .failed(let failure, let status, _):
            switch (failure, status) {
            case (.timedOut, _), (_, 408), (_, 503), (_, 504): .overloaded
            // With the address or the right to call something is wrong for all.
            case (_, 401), (_, 403), (_, 404), (_, 405), (_, 407), (_, 421): .failed
            // Others find fault with one grant, and say nothing about the next.
            case (.conflict, _), (.tooLarge, _), (.refused, _): .answered
            default: .failed
            }
        }
    }

    /// Whether the service was reached and said no: that may be about this grant alone. A gateway's answers are not its own.
    var isOwnNo: Bool {
        guard case .failed(let failure, let status, _) = self, outcome == .answered || outcome == .failed else {
            return false
        }
        return failure == .tooLarge || status.map { $0 != 502 } ?? false
    }

    /// One word, for metrics.
    var word: String {
        switch self {
        case .done: "done"
        case .doneBefore: "done_before"
        case .failed(let failure, _, _): failure.rawValue
        case .unknown: "given_up"
        }
    }

    /// All that ``word`` can be.
    static let words = ["done", "done_before", "given_up"] + DeliveryFailure.allCases.map(\.rawValue)
}

extension DeliveryFailure {
    /// For people who look at a delivery.
    ///
    /// - Parameter status: of the response, if there was one.
    func sentence(_ status: Int?) -> String {
        switch self {
        case .conflict: "HTTP 409, and the answer does not name this grant."
        case .refused, .limited, .redirected, .failed, .unexpected: "HTTP \(status ?? 0)."
        case .unreachable: "The service cannot be reached."
        case .timedOut: "No whole answer came in time."
        case .tls: "TLS failed, or the certificate is not trusted."
        case .interrupted: "The connection broke before the answer was whole."
        case .tooLarge: "The answer is too large."
        }
    }
}
