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
