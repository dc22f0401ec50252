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
        /// After the empty line; what fields come then are trailers.
        case body
    }

    private let maxHeaderBytes: Int
    private let maxBodyBytes: Int
    private var section = Section.fields
    private var headerBytes = 0
    private(set) var headers: [HTTPHeader] = []
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
        let text = Self.trimmed(line)
        if line.starts(with: "HTTP/".utf8) {
            // A status line: whatever came before belonged to an interim (1xx) response.
            headers.removeAll(keepingCapacity: true)
            section = .fields
        } else if text.isEmpty {
            section = .body
        } else if section == .fields {
            append(field: line, text: text)
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

    private mutating func append(field line: some RandomAccessCollection<UInt8>, text: some Collection<UInt8>) {
        if let first = line.first, Self.isBlank(first), let last = headers.indices.last {
            // A folded line (RFC 9112, 5.2) goes on with the value before it.
            headers[last].value += " " + String(decoding: text, as: UTF8.self)
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            headers.append(
                HTTPHeader(
                    name: String(decoding: text[..<colon], as: UTF8.self),
                    value: String(decoding: Self.trimmed(text[text.index(after: colon)...]), as: UTF8.self)))
        }
    }

    private static func trimmed<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        guard let start = bytes.firstIndex(where: { !isBlank($0) }) else { return bytes[bytes.endIndex...] }
        let tail = bytes[start...]
        var end = start
        var index = start
        while index != tail.endIndex {
            let next = tail.index(after: index)
            if !isBlank(tail[index]) { end = next }
            index = next
        }
        return bytes[start..<end]
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\n")
    }
}
