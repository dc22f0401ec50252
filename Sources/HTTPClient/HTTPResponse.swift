/// A response that arrived whole: its length was as announced, and it was within the limits.
public struct HTTPResponse: Sendable, CustomStringConvertible {
    /// The status code, 100 to 999. Every status is a response, redirects and errors too; none is followed or thrown.
    public var status: Int
    private let lines: HeaderLines
    /// Decompressed where the server compressed it.
    public var body: [UInt8]
    /// From when the call left the queue until the response was whole; zero in one that tests made.
    let duration: Duration
    /// An open connection was used again.
    let reusedConnection: Bool

    /// A response, as tests make one.
    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.init(status: status, lines: HeaderLines(headers), body: body)
    }

    init(
        status: Int, lines: HeaderLines, body: [UInt8], duration: Duration = .zero, reusedConnection: Bool = false
    ) {
        self.status = status
        self.lines = lines
        self.body = body
        self.duration = duration
        self.reusedConnection = reusedConnection
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

/// A response's header section as it came, read when somebody asks: it has a dozen fields, and of most responses
/// nobody wants to know any.
struct HeaderLines: Sendable {
    /// Field lines, each with its line end.
    private var bytes: [UInt8] = []

    /// No lines.
    init() {}

    /// Lines that say these fields.
    init(_ fields: [HTTPHeader]) {
        bytes = fields.flatMap { "\($0.name): \($0.value)\r\n".utf8 }
    }

    /// Adds a line, with its line end.
    mutating func append(_ line: some RandomAccessCollection<UInt8>) { bytes.append(contentsOf: line) }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// The fields in the order they came, without blanks around their values. Lines that are no fields are left out.
    var fields: [HTTPHeader] {
        var fields: [HTTPHeader] = []
        for line in bytes.split(separator: Self.lineFeed) {
            let text = Self.trimmed(line)
            if let first = line.first, Self.isBlank(first) {
                // A folded line (RFC 9112, 5.2) continues the value before it; the first of all continues nothing.
                guard let last = fields.indices.last else { continue }
                fields[last].value += " " + String(decoding: text, as: UTF8.self)
            } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
                fields.append(
                    HTTPHeader(
                        name: String(decoding: text[..<colon], as: UTF8.self),
                        value: String(decoding: Self.trimmed(text[text.index(after: colon)...]), as: UTF8.self)))
            }
        }
        return fields
    }

    /// Whether there can be a field of this name, in whatever case. It allocates nothing, so a miss costs little.
    func mayHave(_ name: String) -> Bool {
        let name = name.utf8
        var line = bytes[...]
        while !line.isEmpty {
            if line.starts(with: name, by: { $0 | Self.lowerCase == $1 | Self.lowerCase }) { return true }
            guard let end = line.firstIndex(of: Self.lineFeed) else { return false }
            line = line[(end + 1)...]
        }
        return false
    }

    /// Whether a line has nothing but blanks, as the one at a section's end.
    static func isEmpty(_ line: some RandomAccessCollection<UInt8>) -> Bool { line.allSatisfy(isBlank) }

    private static let lineFeed = UInt8(ascii: "\n")
    /// Of letters. Other characters may look alike with it, so it tells only what can be.
    private static let lowerCase: UInt8 = 0x20

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let start = bytes.firstIndex(where: { !isBlank($0) }), let end = bytes.lastIndex(where: { !isBlank($0) })
        else { return [] }
        return bytes[start...end]
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r") || byte == lineFeed
    }
}

/// Gathers one response from the pieces that libcurl hands over, within bounds. Knows no pointer and no socket.
struct ResponseCollector {
    /// Why the collector took no more.
    enum Overflow: Hashable {
        case headers
        case body
    }

    private enum Section {
        /// Between a status line and the empty line.
        case fields
        /// After the empty line; later fields are trailers.
        case body
    }

    private let maxHeaderBytes: Int
    private let maxBodyBytes: Int
    private var section = Section.fields
    private var headerBytes = 0
    private(set) var headers = HeaderLines()
    private(set) var body: [UInt8] = []
    private(set) var overflow: Overflow?

    /// - Parameters:
    ///   - maxHeaderBytes: Over all header sections of the exchange: interim responses and trailers count.
    ///   - maxBodyBytes: After decompression.
    init(maxHeaderBytes: Int, maxBodyBytes: Int) {
        self.maxHeaderBytes = maxHeaderBytes
        self.maxBodyBytes = maxBodyBytes
    }

    /// Takes one line of a header section, with its line end. False: it is too much, the transfer is to end.
    mutating func receive(headerLine line: some RandomAccessCollection<UInt8>) -> Bool {
        headerBytes += line.count
        guard headerBytes <= maxHeaderBytes else {
            overflow = .headers
            return false
        }
        if line.starts(with: "HTTP/".utf8) {
            // A status line: whatever came before belonged to an interim (1xx) response.
            headers.removeAll()
            section = .fields
        } else if HeaderLines.isEmpty(line) {
            section = .body
        } else if section == .fields {
            headers.append(line)
        }
        return true
    }

    /// Takes a piece of the body. False: it is too much, the transfer is to end.
    mutating func receive(body piece: some RandomAccessCollection<UInt8>) -> Bool {
        guard piece.count <= maxBodyBytes - body.count else {
            overflow = .body
            body = []
            return false
        }
        body.append(contentsOf: piece)
        return true
    }
}
