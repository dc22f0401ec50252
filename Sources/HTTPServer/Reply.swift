/// An HTTP reply before it is sent.
public struct Reply: Hashable, Sendable {
    public var status: Int
    /// Without `Content-Length` and `Connection`. Control characters in them are sent as spaces.
    public var fields: [HeaderField]
    public var body: [UInt8]

    public init(status: Int, fields: [HeaderField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A reply with a content type and a text for its body.
    public init(status: Int, contentType: String, text: String) {
        self.init(status: status, fields: [HeaderField("content-type", contentType)], body: Array(text.utf8))
    }

    /// A short text that repeats the status, for requests that no handler sees.
    public static func refusal(_ status: Int) -> Reply {
        Reply(status: status, contentType: "text/plain", text: "\(status) \(reasons[status, default: "Status"])\n")
    }

    /// The status line and the fields, up to the body (RFC 9112, sections 4 and 5).
    public func head(keepsAlive: Bool) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status) \(Self.reasons[status, default: "Status"])"]
        lines += fields.map { "\($0.name): \($0.value)" }
        // RFC 9110, section 8.6.
        if status >= 200 && status != 204 { lines.append("content-length: \(body.count)") }
        if !keepsAlive { lines.append("connection: close") }
        let harmless = lines.map { $0.utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 } }
        return Array((harmless + [[], []]).joined(separator: [UInt8(ascii: "\r"), UInt8(ascii: "\n")]))
    }

    private static let reasons = [
        200: "OK", 204: "No Content", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 411: "Length Required", 413: "Content Too Large",
        414: "URI Too Long", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
    ]
}
