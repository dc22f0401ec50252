/// Turns a fault into what a connection does.
///
/// The real answer is rendered only where it is needed.
enum Stage {
    /// - Parameter answer: Renders the real answer, with or without purchases.
    static func act(of fault: Fault?, answer: (_ withoutPurchases: Bool) -> HTTPReply) -> Performance.Act {
        switch fault {
        case nil, .delay: return .reply(answer(false))
        case .withoutPurchases: return .reply(answer(true))
        case .status(let code, let isRetryable, let spelling):
            return .reply(HTTPReply(body: status(code, isRetryable, spelling ?? .underscore)))
        case .apiError(let code): return .reply(ServerAPIError.reply(code: code))
        case .http(let code): return .reply(text(code, "The request could not be served."))
        case .rateLimited(let retryAfter):
            var reply = text(429, "Too many requests.")
            reply.headers["Retry-After"] = retryAfter
            return .reply(reply)
        case .redirect(let location):
            return .reply(HTTPReply(code: 302, contentType: "text/plain", headers: ["Location": location]))
        case .html: return .reply(HTTPReply(contentType: "text/html; charset=UTF-8", body: Array(page.utf8)))
        case .truncated:
            var reply = answer(false)
            reply.body.removeLast(reply.body.count / 2)
            return .reply(reply)
        case .cutOff: return .cutOff(answer(false))
        case .empty: return .reply(HTTPReply())
        case .oversized(let bytes): return .reply(HTTPReply(body: oversized(bytes)))
        case .drip(let bytes, let milliseconds):
            return .drip(answer(false), bytes: max(1, bytes), everyMilliseconds: max(1, milliseconds))
        case .reset: return .reset
        case .close: return .close
        case .hang: return .hang
        }
    }

    static func text(_ code: Int, _ text: String) -> HTTPReply {
        HTTPReply(code: code, contentType: "text/plain", body: Array(text.utf8))
    }

    private static func status(_ code: Int, _ isRetryable: Bool?, _ spelling: Fault.Spelling) -> [UInt8] {
        let flag = isRetryable.map { ",\"\(spelling.key)\":\($0)" } ?? ""
        return Array("{\"status\":\(code)\(flag)}".utf8)
    }

    /// A valid answer but for its length.
    private static func oversized(_ bytes: Int) -> [UInt8] {
        let head = Array("{\"status\":0,\"padding\":\"".utf8)
        let tail = Array("\"}".utf8)
        let padding = max(0, min(bytes, Fault.oversizedLimit) - head.count - tail.count)
        return head + [UInt8](repeating: 0x2e, count: padding) + tail
    }

    private static let page =
        "<!DOCTYPE html><html><body><h1>The App Store is temporarily unavailable.</h1></body></html>"
}
