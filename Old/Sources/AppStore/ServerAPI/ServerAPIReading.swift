import Foundation
import Purchases

/// First look at what came of a request to the App Store Server API.
enum ServerAPIReading: Sendable {
    /// Largest body that is looked into, in bytes. A page of 20 transactions has some 120 KB.
    static let maxBytes = 1 << 20

    /// HTTP 200 with a body that is yet to be understood.
    case answer([UInt8])
    /// Apple says no, or somebody in between does.
    case refused(ServerAPIRefusal)
    /// Nothing was said.
    case noAnswer(Verdict)

    /// What follows from an answer that is none: HTML, cut off, or without what it is about.
    static let unreadable = Verdict.retry(.noAnswer, notBefore: nil, patience: .unlimited)

    private struct Failure: Decodable {
        let errorCode: LenientText?
    }

    /// Reads a reply that arrived at the given moment. A redirect is never followed: the token goes to configured hosts
    /// alone.
    init(_ reply: AppStoreReply, now: Timestamp) {
        switch reply {
        case .failed(.tooLarge): self = .noAnswer(Self.unreadable)
        case .failed(.unreachable), .failed(.timedOut), .failed(.tls), .failed(.interrupted), .failed(.cancelled):
            self = .noAnswer(.retry(.unreachable, notBefore: nil, patience: .unlimited))
        case .response(200, _, let body):
            self = body.count > Self.maxBytes ? .noAnswer(Self.unreadable) : .answer(body)
        case .response(let status, let retryAfter, let body):
            // 401 has a text for a body, and what stands between us and Apple answers in HTML.
            let failure = Self.decoded(Failure.self, body)
            self = .refused(
                ServerAPIRefusal(
                    httpStatus: status, code: failure?.errorCode?.text.flatMap(LenientNumber.integer),
                    notBefore: RetryAfter.moment(retryAfter, now: now)))
        }
    }

    /// Reads JSON; nil for a body that is larger than ``maxBytes`` or not of the form.
    static func decoded<Answer: Decodable>(_ type: Answer.Type, _ json: [UInt8]) -> Answer? {
        guard json.count <= maxBytes else { return nil }
        return try? JSONDecoder().decode(type, from: Data(json))
    }
}

extension Environment {
    /// As Apple's answers have it.
    var nameInAnswers: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        }
    }
}
