internal import HTTPServer
internal import SimulatorServer

extension Fault? {
    /// The server's action for a call with this fault, or with none.
    ///
    /// - Parameter answer: Renders the real answer, with or without purchases; called only where it is needed.
    func action(answer: (_ withoutPurchases: Bool) -> Reply) -> ServerAnswer.Action {
        switch self {
        case nil, .delay: return .reply(answer(false))
        case .withoutPurchases: return .reply(answer(true))
        case .status(let code, let isRetryable, let spelling):
            return .reply(.json(Fault.status(code, isRetryable, spelling ?? .underscore)))
        case .apiError(let code): return .reply(ServerAPIError.reply(code: code))
        case .http(let code): return .reply(.text(code, "The request could not be served."))
        case .rateLimited(let retryAfter):
            var reply = Reply.text(429, "Too many requests.")
            reply.fields.append(HeaderField("Retry-After", retryAfter))
            return .reply(reply)
        case .redirect(let location):
            return .reply(
                Reply(
                    status: 302, fields: [HeaderField("Content-Type", "text/plain"), HeaderField("Location", location)])
            )
        case .html: return .reply(Reply(status: 200, contentType: "text/html; charset=UTF-8", text: Fault.page))
        case .truncated:
            var reply = answer(false)
            reply.body.removeLast(reply.body.count / 2)
            return .reply(reply)
        case .cutOff: return .cutOff(answer(false))
        case .empty: return .reply(.json([]))
        case .oversized(let bytes): return .reply(.json(Fault.oversized(bytes)))
        case .drip(let bytes, let milliseconds):
            return .drip(answer(false), bytes: max(1, bytes), every: .milliseconds(max(1, milliseconds)))
        case .reset: return .reset
        case .close: return .close
        case .hang: return .hang
        }
    }
}

extension Fault {
    fileprivate static func status(_ code: Int, _ isRetryable: Bool?, _ spelling: Spelling) -> [UInt8] {
        let flag = isRetryable.map { ",\"\(spelling.key)\":\($0)" } ?? ""
        return Array("{\"status\":\(code)\(flag)}".utf8)
    }

    /// A valid answer except for its length.
    fileprivate static func oversized(_ bytes: Int) -> [UInt8] {
        let head = Array("{\"status\":0,\"padding\":\"".utf8)
        let tail = Array("\"}".utf8)
        let padding = max(0, min(bytes, oversizedLimit) - head.count - tail.count)
        return head + [UInt8](repeating: 0x2e, count: padding) + tail
    }

    fileprivate static let page =
        "<!DOCTYPE html><html><body><h1>The App Store is temporarily unavailable.</h1></body></html>"
}

extension Reply {
    /// A status 200 with JSON.
    static func json(_ body: [UInt8]) -> Reply {
        Reply(status: 200, fields: [HeaderField("Content-Type", "application/json")], body: body)
    }

    /// A status with a short plain text.
    static func text(_ status: Int, _ text: String) -> Reply {
        Reply(status: status, contentType: "text/plain", text: text)
    }
}
