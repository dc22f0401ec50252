public import Contract

/// Whether Apple accepts an app's key for the App Store Server API, by its answer about a transaction that nobody has.
///
/// Only an answer that Apple gives after it has looked at the key counts as acceptance: a proxy's error, and Apple's
/// word on an app that it does not know, come with the same HTTP statuses.
public enum ServerAPIKeyCheck: Hashable, Sendable {
    /// Apple knows no such transaction, and says so to owners of the right key.
    case accepted
    /// HTTP 401, which production says to the keys of apps that were never released, too.
    case refused
    /// Anything else.
    case other(httpStatus: Int, code: Int?)
    /// No answer at all.
    case failed(TransportFailure)

    /// The call to make; nil if the app has no key, or nothing can be signed with it.
    public static func call(_ rules: AppRules, in environment: Environment, at now: Timestamp) -> AppleCall? {
        guard let endpoint = rules.serverAPI(environment), let token = rules.mint?.token(now: now) else { return nil }
        let path = ServerAPIRequest.transaction("0").path
        return AppleCall(endpoint: endpoint, isFresh: false, content: .serverAPI(path: path, token))
    }

    /// Reads the end of the call.
    public init(_ reply: AppStoreReply) {
        switch reply {
        case .failed(let failure): self = .failed(failure)
        case .response(200, _, _): self = .other(httpStatus: 200, code: nil)
        case .response(let status, _, let body):
            let refusal = ServerAPIRefusal(httpStatus: status, body: body, notBefore: nil)
            switch refusal.meaning {
            case .notFound, .idRefused: self = .accepted
            case .tokenRefused: self = .refused
            case .accountNotFound, .temporarilyUnable, .noAnswer, .rateLimited, .restartPaging, .credentialsRefused,
                .requestRefused, .unknown:
                self = .other(httpStatus: status, code: refusal.code)
            }
        }
    }
}
