/// A response that arrived whole: its length was as announced, and it was within the limits.
public struct HTTPResponse: Sendable, CustomStringConvertible {
    /// The status code, 100 to 999. Every status is a response, redirects and errors too; none is followed or thrown.
    public let status: Int
    private let lines: HeaderLines
    /// Decompressed where the server compressed it.
    public let body: [UInt8]
    /// From when the call left the queue until the response was whole; zero in a test's response.
    let duration: Duration

    /// A response, as tests make one.
    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        var lines = HeaderLines()
        for header in headers { lines.append(Array("\(header.name): \(header.value)\r\n".utf8)) }
        self.init(status: status, lines: lines, body: body, duration: .zero)
    }

    init(status: Int, lines: HeaderLines, body: [UInt8], duration: Duration) {
        self.status = status
        self.lines = lines
        self.body = body
        self.duration = duration
    }

    /// The first value of the header of this name, in whatever case, without surrounding blanks; trailers are left out.
    public func header(_ name: String) -> String? { lines.value(of: name) }

    /// Status and size; replies have receipts in them.
    public var description: String { "status \(status), \(body.count) bytes" }
}

/// A response's header section as it came. It is read on demand, because it has a dozen fields, and of most responses
/// none is needed.
struct HeaderLines: Sendable {
    /// Field lines, each with its line end.
    private var bytes: [UInt8] = []

    mutating func append(_ line: some RandomAccessCollection<UInt8>) { bytes.append(contentsOf: line) }
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// The first value of the field of this name.
    func value(of name: String) -> String? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            let value = line.dropFirst(name.utf8.count)
            guard value.first == UInt8(ascii: ":"), line.starts(with: name.utf8, by: Self.isSameLetter) else {
                continue
            }
            let text = value.dropFirst().drop(while: Self.isBlank)
            let end = text.lastIndex { !Self.isBlank($0) }
            return String(decoding: end.map { text[...$0] } ?? [], as: UTF8.self)
        }
        return nil
    }

    /// Whether a line has nothing but blanks, as the one at a section's end.
    static func isEmpty(_ line: some RandomAccessCollection<UInt8>) -> Bool { line.allSatisfy(isBlank) }

    private static func isSameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
        left == right || (left | 0x20 == right | 0x20 && UInt8(ascii: "a")...UInt8(ascii: "z") ~= left | 0x20)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
}

/// Gathers one response from the pieces that libcurl hands over, within bounds. Knows no pointer and no socket.
struct ResponseCollector {
    private let maxHeaderBytes: Int
    private let maxBodyBytes: Int
    /// Between a status line and the empty line. Fields that come later are trailers.
    private var isInHeader = true
    private var headerBytes = 0
    private(set) var headers = HeaderLines()
    private(set) var body: [UInt8] = []
    /// Why the collector took no more.
    private(set) var overflow: HTTPFailure?

    /// - Parameters:
    ///   - maxHeaderBytes: Over all header sections of the exchange: interim responses and trailers count.
    ///   - maxBodyBytes: After decompression.
    init(maxHeaderBytes: Int = HTTPClientConfiguration.maxHeaderBytes, maxBodyBytes: Int) {
        self.maxHeaderBytes = maxHeaderBytes
        self.maxBodyBytes = maxBodyBytes
    }

    /// Takes one line of a header section, with its line end. False: it is too much, the transfer is to end.
    mutating func receive(headerLine line: some RandomAccessCollection<UInt8>) -> Bool {
        headerBytes += line.count
        guard headerBytes <= maxHeaderBytes else {
            overflow = .headersTooLarge
            return false
        }
        if line.starts(with: "HTTP/".utf8) {
            // A status line: whatever came before belonged to an interim (1xx) response.
            headers.removeAll()
            isInHeader = true
        } else if HeaderLines.isEmpty(line) {
            isInHeader = false
        } else if isInHeader {
            headers.append(line)
        }
        return true
    }

    /// Takes a piece of the body. False: it is too much, the transfer is to end.
    mutating func receive(body piece: some RandomAccessCollection<UInt8>) -> Bool {
        guard piece.count <= maxBodyBytes - body.count else {
            overflow = .bodyTooLarge
            body = []
            return false
        }
        body.append(contentsOf: piece)
        return true
    }
}
