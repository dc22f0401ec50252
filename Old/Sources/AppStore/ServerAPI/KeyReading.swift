import Purchases

/// What the App Store Server API's answer about a transaction that nobody has says of the key it was asked with.
///
/// Only what Apple answers after it has looked at the key counts as its acceptance: a proxy's error, and what Apple says of an app
/// that it does not know, come with the same HTTP statuses.
public enum KeyReading: Hashable, Sendable {
    /// Apple knows no such transaction, and says so to whoever has the right key.
    case accepted
    /// HTTP 401, which production says to the keys of apps that were never released, too.
    case refused
    /// Anything else.
    case other(httpStatus: Int, code: Int?)
    /// No answer at all.
    case failed(TransportFailure)

    /// Reads what came of the call.
    public init(_ reply: AppStoreReply) {
        switch reply {
        case .failed(let failure): self = .failed(failure)
        case .response(let status, _, _):
            // The moment matters to pauses alone.
            guard case .refused(let refusal) = ServerAPIReading(reply, now: Timestamp(milliseconds: 0)) else {
                self = .other(httpStatus: status, code: nil)
                return
            }
            switch refusal.disposition {
            case .notFound, .rejected: self = .accepted
            case .tokenRefused: self = .refused
            case .accountNotFound, .temporarilyUnable, .noAnswer, .rateLimited, .restartPaging, .credentialsRefused,
                .requestRefused, .unknown:
                self = .other(httpStatus: status, code: refusal.code)
            }
        }
    }
}
