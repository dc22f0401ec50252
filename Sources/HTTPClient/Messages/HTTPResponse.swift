/// A response that arrived whole: its length was as announced, and it was within the limits.
public struct HTTPResponse: Sendable, CustomStringConvertible {
    /// The status code, 100 to 999. Every status is a response, redirects and errors too; none is followed or thrown.
    public var status: Int
    private let lines: HeaderLines
    /// Decompressed where the server compressed it.
    public var body: [UInt8]
    /// How long the parts of the exchange took.
    public var timings: HTTPTimings

    /// A response, as tests make one.
    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = [], timings: HTTPTimings = HTTPTimings()) {
        self.init(status: status, lines: HeaderLines(headers), body: body, timings: timings)
    }

    init(status: Int, lines: HeaderLines, body: [UInt8], timings: HTTPTimings) {
        self.status = status
        self.lines = lines
        self.body = body
        self.timings = timings
    }

    /// In the order they came, repeats kept; trailers are left out. Read anew at each call.
    public var headers: [HTTPHeader] { lines.fields }

    /// The first value of the header of this name, in whatever case.
    public func header(_ name: String) -> String? {
        guard lines.mayHave(name) else { return nil }
        return headers.first { $0.isNamed(name) }?.value
    }

    /// All values of the header of this name, in whatever case, in the order they came.
    public func headers(named name: String) -> [String] {
        headers.filter { $0.isNamed(name) }.map(\.value)
    }

    /// Status and size; answers have receipts in them.
    public var description: String { "status \(status), \(body.count) bytes" }
}

/// When the parts of an exchange were done, each counted from when the call left the queue.
public struct HTTPTimings: Sendable, Hashable {
    /// Name looked up, TCP connected, TLS agreed; zero on a connection that was already open.
    public var connect: Duration
    /// The first byte of the response was there.
    public var firstByte: Duration
    /// The response was whole.
    public var total: Duration
    /// An open connection was used again.
    public var reusedConnection: Bool

    /// Timings; zero unless given.
    public init(
        connect: Duration = .zero, firstByte: Duration = .zero, total: Duration = .zero, reusedConnection: Bool = false
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.total = total
        self.reusedConnection = reusedConnection
    }
}
