import CLibcrypto
import Glibc
import SocketTesting
import Testing

/// A client that sends and reads bytes as a test says: no HTTP library would send most of them. It blocks, within a
/// limit.
final class Client {
    struct Response {
        var status = 0
        /// Status line and fields, in lower case.
        var head = ""
        var body: [UInt8] = []
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    struct Failed: Error {
        let reason: String
    }

    private(set) var descriptor: Int32
    private var session: OpaquePointer?
    private var buffer: [UInt8] = []
    /// Whether the connection ended by a reset, once it has ended.
    private(set) var wasReset = false

    /// Connects to a port of this machine.
    ///
    /// - Parameter source: the last byte of the client's own address in 127.0.0.0/24.
    init(_ port: Int, from source: UInt8 = 1) throws {
        descriptor = Loopback.socket()
        try connect(to: port, from: source)
    }

    /// Connects over a socket that is there already.
    init(_ port: Int, socket descriptor: Int32) throws {
        self.descriptor = descriptor
        try connect(to: port, from: 1)
    }

    deinit {
        close()
    }

    private func connect(to port: Int, from source: UInt8) throws {
        try Loopback.bind(descriptor, host: source)
        try Loopback.connect(descriptor, to: port)
    }

    /// Speaks TLS from now on.
    ///
    /// - Parameter rootPEM: the only certificate that is trusted.
    func startTLS(rootPEM: String) throws {
        let context = try #require(SSL_CTX_new(TLS_client_method()))
        defer { SSL_CTX_free(context) }
        let root = Array(rootPEM.utf8).withUnsafeBytes { bytes -> OpaquePointer? in
            let buffer = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { BIO_free(buffer) }
            return PEM_read_bio_X509(buffer, nil, nil, nil)
        }
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), root)
        X509_free(root)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        session = SSL_new(context)
        SSL_set_fd(session, descriptor)
        guard SSL_connect(session) == 1 else { throw Failed(reason: "handshake") }
    }

    /// Whether the server has said that its TLS ends (`close_notify`).
    var hasFarewell: Bool { session.map { SSL_get_shutdown($0) & SSL_RECEIVED_SHUTDOWN != 0 } ?? false }

    /// - Returns: false if the server takes no more.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { rest in
                if let session { return Int(SSL_write(session, rest.baseAddress, Int32(rest.count))) }
                return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads one response.
    ///
    /// - Throws: ``Failed`` if the connection ends before.
    func response(toHead isHead: Bool = false) throws -> Response {
        let separator = Array("\r\n\r\n".utf8)
        var response = Response()
        while true {
            if let end = buffer.indices.first(where: { buffer[$0...].starts(with: separator) }) {
                response.head = String(decoding: buffer[..<end], as: UTF8.self).lowercased()
                buffer.removeFirst(end + separator.count)
                break
            }
            guard readMore() else { throw Failed(reason: "no response") }
        }
        response.status = Int(response.head.split(separator: " ")[1]) ?? 0
        let length =
            response.head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            .flatMap { Int($0.dropFirst("content-length: ".count)) } ?? 0
        while !isHead, buffer.count < length {
            guard readMore() else { throw Failed(reason: "\(buffer.count) of \(length) bytes") }
        }
        response.body = isHead ? [] : Array(buffer[..<length])
        if !isHead { buffer.removeFirst(length) }
        return response
    }

    /// Reads a head and so many bytes of a body, and finds nothing more.
    func partialBody(_ count: Int) throws {
        let separator = Array("\r\n\r\n".utf8)
        while true {
            if let end = buffer.indices.first(where: { buffer[$0...].starts(with: separator) }),
                buffer.count >= end + separator.count + count
            {
                guard buffer.count == end + separator.count + count else { throw Failed(reason: "more than a piece") }
                return
            }
            guard readMore() else { throw Failed(reason: "less than a piece") }
        }
    }

    /// Reads until the server ends the connection.
    func readToEnd() -> [UInt8] {
        while readMore() {}
        return buffer
    }

    /// Sends a request and reads its response.
    func get(_ path: String) throws -> Response {
        send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try response()
    }

    func post(_ path: String, _ body: [UInt8]) throws -> Response {
        send(Array("POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
        return try response()
    }

    func close() {
        if let session { SSL_free(session) }
        session = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private func readMore() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let count = chunk.withUnsafeMutableBytes { chunk in
            if let session { return Int(SSL_read(session, chunk.baseAddress, Int32(chunk.count))) }
            return recv(descriptor, chunk.baseAddress, chunk.count, 0)
        }
        if count < 0 {
            wasReset = errno == ECONNRESET
            if errno == EAGAIN { Issue.record("the server neither answers nor ends the connection") }
        }
        guard count > 0 else { return false }
        buffer += chunk.prefix(count)
        return true
    }
}
