import CLibcrypto
import CertificateMaking
import FoundationEssentials
import Glibc
import Testing

/// A certificate and its key, ready for servers.
///
/// Unchecked, because OpenSSL counts references to a context under locks of its own, and a finished context never
/// changes.
final class ServerTLS: @unchecked Sendable {
    fileprivate let context: OpaquePointer
    /// A PEM file with the root alone.
    let caFile: String

    static let shared = Result { try ServerTLS() }

    /// - Parameter validity: Seconds from now.
    init(host: String = "localhost", validity: ClosedRange<Int64> = -86_400...86_400) throws {
        let now = Int64(time(nil))
        let made = try ServerCertificate(
            hosts: [host], addresses: [], validity: (now + validity.lowerBound)...(now + validity.upperBound))
        context = try #require(SSL_CTX_new(TLS_server_method()))
        let folder = FileManager.default.temporaryDirectory
        let files = (made.rootPEM, made.certificatePEM, made.keyPEM)
        let names = ["root", "certificate", "key"].map { "\(folder.path)/http-client-\(UUID().uuidString)-\($0).pem" }
        for (text, name) in zip([files.0, files.1, files.2], names) {
            try text.write(toFile: name, atomically: true, encoding: .utf8)
        }
        caFile = names[0]
        defer { for name in names.dropFirst() { try? FileManager.default.removeItem(atPath: name) } }
        try #require(SSL_CTX_use_certificate_file(context, names[1], SSL_FILETYPE_PEM) == 1)
        try #require(SSL_CTX_use_PrivateKey_file(context, names[2], SSL_FILETYPE_PEM) == 1)
    }

    deinit {
        SSL_CTX_free(context)
        try? FileManager.default.removeItem(atPath: caFile)
    }
}

/// One connection, with TLS or without, blocking. Used by its thread alone.
final class ByteStream {
    private let descriptor: Int32
    private var tls: OpaquePointer?
    var resetsAtEnd = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func startTLS(_ server: ServerTLS) -> Bool {
        guard let tls = SSL_new(server.context) else { return false }
        self.tls = tls
        SSL_set_fd(tls, descriptor)
        return SSL_accept(tls) == 1
    }

    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                tls.map { Int(SSL_write($0, bytes.baseAddress, Int32(bytes.count))) }
                    ?? Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The next request; nil at the connection's end.
    func readRequest(_ unread: inout [UInt8]) -> (head: String, body: [UInt8])? {
        while true {
            if let request = Self.takeRequest(&unread) { return request }
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            let count =
                tls.map { Int(SSL_read($0, &buffer, Int32(buffer.count))) }
                ?? Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            unread += buffer[..<count]
        }
    }

    func end() {
        if resetsAtEnd {
            // Closing a socket that lingers for zero seconds sends RST.
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        SSL_free(tls)
        close(descriptor)
    }

    private static func takeRequest(_ unread: inout [UInt8]) -> (head: String, body: [UInt8])? {
        guard let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: unread[..<end.upperBound], as: UTF8.self)
        let length =
            head.split(separator: "\r\n").lazy.map { $0.lowercased() }
            .first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).filter(\.isNumber)) } ?? 0
        guard unread.count >= end.upperBound + length else { return nil }
        let body = Array(unread[end.upperBound..<(end.upperBound + length)])
        unread.removeFirst(end.upperBound + length)
        return (head, body)
    }
}
