internal import Threading

/// An HTTP reply before it is sent.
public struct Reply: Hashable, Sendable {
    public var status: Int
    /// Without `Content-Length` and `Connection`, which the server adds. Control characters in them are sent as spaces.
    public var fields: [HeaderField]
    public var body: [UInt8]

    public init(status: Int, fields: [HeaderField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A reply with a content type and a text for its body.
    public init(status: Int, contentType: String, text: String) {
        self.init(
            status: status, fields: [HeaderField(name: "content-type", value: contentType)], body: Array(text.utf8))
    }
}

/// Everything that can happen to a request. All but ``Action/reply(_:)`` are faults that stand-ins for services show.
public struct ServerAnswer: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        case reply(Reply)
        /// The reply's head and half of its body, then the end of the connection, without TLS's farewell.
        case cutOff(Reply)
        /// The reply in pieces of so many bytes of its body, so far apart.
        case drip(Reply, bytes: Int, every: Duration)
        /// The client sees a TCP reset.
        case reset
        /// The client sees the end of the connection, without TLS's farewell.
        case close
        /// Nothing, until the client gives up or ``ServerConfiguration/answerTime`` is over.
        case hang
    }

    /// How long the action waits.
    public var delay: Duration
    public var action: Action

    public init(_ action: Action, delay: Duration = .zero) {
        self.action = action
        self.delay = delay
    }

    public static func reply(_ reply: Reply) -> ServerAnswer { ServerAnswer(.reply(reply)) }
}

extension HeaderField {
    /// A field of a reply.
    public init(_ name: String, _ value: String) {
        self.init(name: name, value: value)
    }
}

extension Reply {
    /// The status line and the fields, up to the body (RFC 9112, sections 4 and 5).
    func head(keepsAlive: Bool) -> [UInt8] {
        var head = Array("HTTP/1.1 \(status) \(Self.reason(status))\r\n".utf8)
        for field in fields {
            head += Self.harmless(field.name)
            head += [UInt8(ascii: ":"), UInt8(ascii: " ")]
            head += Self.harmless(field.value)
            head += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        }
        if Self.hasLength(status) { head += Array("content-length: \(body.count)\r\n".utf8) }
        if !keepsAlive { head += Array("connection: close\r\n".utf8) }
        head += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        return head
    }

    /// A short text that repeats the status, for requests that no handler sees.
    static func refusal(_ status: Int) -> Reply {
        Reply(status: status, contentType: "text/plain", text: "\(status) \(reason(status))\n")
    }

    /// RFC 9110, section 8.6.
    private static func hasLength(_ status: Int) -> Bool { status >= 200 && status != 204 }

    private static func harmless(_ text: String) -> [UInt8] {
        text.utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 204: "No Content"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 417: "Expectation Failed"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}

/// Answers one request later, from any thread.
///
/// The first answer counts; further ones, and those to a client that went away, are dropped.
public struct Responder: Sendable {
    let answers: Mailbox<ServerMessage>
    let token: UInt64
    let serial: UInt64

    /// Hands the answer to the server's thread.
    ///
    /// - Returns: false if the server has stopped.
    @discardableResult
    public func answer(_ answer: ServerAnswer) -> Bool {
        answers.post(.answer(token: token, serial: serial, answer))
    }
}

/// A message of another thread to the server's thread.
enum ServerMessage: Sendable {
    case answer(token: UInt64, serial: UInt64, ServerAnswer)
    case stop
}
