import HTTPServer

/// Every answer but a good one, in one form: `{"error": {"status", "word", "detail"}}`.
enum APIRefusal: Error, Hashable, Sendable {
    /// The request makes no sense; the detail has nothing of it.
    case badRequest(String)
    /// No token, or none that the tokens file has.
    case unauthorized
    case notFound
    /// The ledger has no such submission.
    case unknownSubmission
    case methodNotAllowed
    /// The token has asked too often.
    case tooManyRequests(retryAfter: Int)
    /// The ledger does not answer, or the tokens cannot be read.
    case unavailable(String, retryAfter: Int)
    /// The request was refused before it was one, see ``HeadReader/Refusal``.
    case unreadable(status: Int)

    /// The statuses of all answers, for metrics that are there from the start.
    static let statuses = [200, 400, 401, 404, 405, 411, 413, 414, 429, 431, 503, 505]

    var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .notFound, .unknownSubmission: 404
        case .methodNotAllowed: 405
        case .tooManyRequests: 429
        case .unavailable: 503
        case .unreadable(let status): status
        }
    }

    /// For programs.
    private var word: String {
        switch self {
        case .badRequest: "bad_request"
        case .unauthorized: "unauthorized"
        case .notFound: "not_found"
        case .unknownSubmission: "unknown_submission"
        case .methodNotAllowed: "method_not_allowed"
        case .tooManyRequests: "too_many_requests"
        case .unavailable: "unavailable"
        case .unreadable(413): "body_not_allowed"
        case .unreadable(414), .unreadable(431): "too_large"
        case .unreadable: "bad_request"
        }
    }

    /// For people.
    private var detail: String {
        switch self {
        case .badRequest(let detail): "The request cannot be answered: \(detail)."
        case .unauthorized: "A token of the tokens file is needed: Authorization: Bearer TOKEN."
        case .notFound: "There are /v1/submissions/{app}/{id} and /v1/find?word=."
        case .unknownSubmission:
            "The ledger has no such submission: it is not read or not verified yet, stands on the quarantine topic, "
                + "was never submitted, or its answer was pruned or erased. A record that named no readable app is under none: "
                + "/v1/find?word= with the id finds it."
        case .methodNotAllowed: "Only GET and HEAD are answered."
        case .tooManyRequests: "This token has asked too often."
        case .unavailable(let detail, _): detail
        case .unreadable(413): "A request has no body."
        case .unreadable(414): "The target is longer than \(HeadReader.maxRequestLineBytes) bytes."
        case .unreadable(431): "The head is longer than \(HeadReader.maxHeadBytes) bytes, or has too many fields."
        case .unreadable: "The request is not HTTP/1.1 as it is understood here."
        }
    }

    var reply: Reply {
        let json = JSONOutput.object([
            "error": .object(["status": .count(status), "word": .text(word), "detail": .text(detail)])
        ])
        var reply = APIReply.json(status, json)
        switch self {
        case .unauthorized: reply.fields.append(HeaderField("www-authenticate", "Bearer"))
        case .methodNotAllowed: reply.fields.append(HeaderField("allow", "GET, HEAD"))
        case .tooManyRequests(let seconds), .unavailable(_, let seconds):
            reply.fields.append(HeaderField("retry-after", String(seconds)))
        case .badRequest, .notFound, .unknownSubmission, .unreadable: break
        }
        return reply
    }
}

enum APIReply {
    static func json(_ status: Int, _ json: JSONOutput) -> Reply {
        var reply = Reply(status: status, contentType: "application/json", text: json.text)
        // Whom it is about may change at any moment, and no cache in between may keep it.
        reply.fields.append(HeaderField("cache-control", "no-store"))
        return reply
    }
}
