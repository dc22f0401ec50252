internal import CLibcrypto
internal import Glibc
internal import Threading

/// The outcome of moving bytes.
enum SocketOutcome: Equatable {
    case bytes(Int)
    /// Nothing moved; try again when the socket is ready for this.
    case blocked(Poller.Interest)
    /// The client sends nothing more.
    case ended
    case failed
}

/// A connection's socket, with TLS on it or without. It closes the descriptor, once.
final class Socket {
    let descriptor: Int32
    private var tls: TLSConnection?
    private var isOpen = true

    /// Takes a descriptor over. Nil if there is no memory for TLS; then it is closed.
    init?(_ descriptor: Int32, identity: TLSIdentity?) {
        self.descriptor = descriptor
        guard let identity else { return }
        tls = TLSConnection(identity, descriptor: descriptor)
        guard tls != nil else {
            close()
            return nil
        }
    }

    deinit {
        close()
    }

    /// Whether a handshake comes before the first request.
    var hasHandshake: Bool { tls != nil }

    /// Zero bytes once reads and writes may begin.
    func handshake() -> SocketOutcome { tls?.handshake() ?? .bytes(0) }

    /// Whether bytes can be read though the descriptor is not ready for it.
    var hasPending: Bool { tls?.hasPending ?? false }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> SocketOutcome {
        tls?.read(into: buffer) ?? readRaw(into: buffer)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> SocketOutcome {
        if let tls { return tls.write(bytes) }
        while true {
            let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .bytes(count) }
            if errno == EAGAIN { return .blocked(.write) }
            if errno != EINTR { return .failed }
        }
    }

    /// Reads the client's bytes below TLS, to drop them.
    func readRaw(into buffer: UnsafeMutableRawBufferPointer) -> SocketOutcome {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .ended }
            if errno == EAGAIN { return .blocked(.read) }
            if errno != EINTR { return .failed }
        }
    }

    /// Says farewell and sends nothing more; reading goes on.
    func finishWriting() {
        tls?.sayFarewell()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the close of the connection a reset (RST), by lingering for no time.
    func resetAtClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        tls = nil
        Glibc.close(descriptor)
    }
}

/// TLS on a socket that does not block, on the server's side. For one thread; the socket is its owner's to close,
/// later.
///
/// OpenSSL keeps one queue of errors per thread, and `SSL_get_error` reads it, so it is emptied before each call.
final class TLSConnection {
    private let session: OpaquePointer

    /// Nil if there is no memory.
    init?(_ identity: TLSIdentity, descriptor: Int32) {
        guard let session = SSL_new(identity.context) else { return nil }
        self.session = session
        guard SSL_set_fd(session, descriptor) == 1 else {
            SSL_free(session)
            return nil
        }
        SSL_set_accept_state(session)
    }

    deinit {
        SSL_free(session)
    }

    /// Goes on with the handshake; zero bytes once it is complete.
    func handshake() -> SocketOutcome {
        ERR_clear_error()
        let result = SSL_do_handshake(session)
        return result == 1 ? .bytes(0) : failure(result)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> SocketOutcome {
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(session, buffer.baseAddress, buffer.count, &count)
        return result == 1 ? .bytes(count) : failure(result)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> SocketOutcome {
        ERR_clear_error()
        var count = 0
        let result = SSL_write_ex(session, bytes.baseAddress, bytes.count, &count)
        return result == 1 ? .bytes(count) : failure(result)
    }

    /// Whether bytes have come that the socket does not show any more.
    var hasPending: Bool { SSL_has_pending(session) == 1 }

    /// Tells the client that nothing more comes (`close_notify`), if that can be sent at once.
    func sayFarewell() {
        ERR_clear_error()
        _ = SSL_shutdown(session)
        ERR_clear_error()
    }

    /// Reading may have to write and writing may have to read.
    private func failure(_ result: Int32) -> SocketOutcome {
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: .blocked(.read)
        case SSL_ERROR_WANT_WRITE: .blocked(.write)
        case SSL_ERROR_ZERO_RETURN: .ended
        // A client that leaves without a farewell is one of them in OpenSSL 3.
        default: .failed
        }
    }
}

/// A certificate or its key cannot be read, or they do not belong together.
public struct IdentityRefused: Error, Hashable, CustomStringConvertible {
    let reason: String

    public init(_ reason: String) { self.reason = reason }

    public var description: String { "the server's certificate cannot be used: \(reason)" }
}

/// A server's certificate and key, and the versions of TLS that it speaks: 1.2 and 1.3.
///
/// Sendable because OpenSSL counts references to a context by atomics, and nothing changes it once it is made.
public final class TLSIdentity: @unchecked Sendable {
    /// Most certificates of a chain.
    private static let maxCertificates = 8

    let context: OpaquePointer

    /// - Parameters:
    ///   - certificatePEM: the server's certificate and, behind it, those of its issuers.
    ///   - keyPEM: the certificate's private key, not encrypted.
    /// - Throws: ``IdentityRefused``.
    public init(certificatePEM: String, keyPEM: String) throws(IdentityRefused) {
        // Cleaning up at the end of the process races with threads that still run.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw IdentityRefused("OpenSSL has no TLS")
        }
        self.context = context
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // Tickets let clients resume; a cache of sessions would only hold memory.
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        let modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(modes) | Int(SSL_MODE_RELEASE_BUFFERS), nil)
        defer { ERR_clear_error() }
        guard Self.withBuffer(certificatePEM, { Self.addCertificates(of: $0, to: context) }) else {
            throw IdentityRefused("no certificate in PEM")
        }
        guard Self.withBuffer(keyPEM, { Self.setKey(of: $0, to: context) }) else {
            throw IdentityRefused("no private key in PEM that fits the certificate")
        }
    }

    deinit {
        SSL_CTX_free(context)
    }

    private static func withBuffer(_ text: String, _ body: (OpaquePointer) -> Bool) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { bytes in
            guard let buffer = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return false }
            defer { BIO_free(buffer) }
            return body(buffer)
        }
    }

    private static func addCertificates(of buffer: OpaquePointer, to context: OpaquePointer) -> Bool {
        guard let certificate = PEM_read_bio_X509(buffer, nil, nil, nil) else { return false }
        defer { X509_free(certificate) }
        guard SSL_CTX_use_certificate(context, certificate) == 1 else { return false }
        for _ in 1..<maxCertificates {
            guard let issuer = PEM_read_bio_X509(buffer, nil, nil, nil) else { return true }
            // The context owns it from here on.
            guard SSL_CTX_ctrl(context, SSL_CTRL_EXTRA_CHAIN_CERT, 0, UnsafeMutableRawPointer(issuer)) == 1 else {
                X509_free(issuer)
                return false
            }
        }
        return true
    }

    private static func setKey(of buffer: OpaquePointer, to context: OpaquePointer) -> Bool {
        // Without a function OpenSSL would ask the terminal for an encrypted key's password.
        guard let key = PEM_read_bio_PrivateKey(buffer, nil, { _, _, _, _ in 0 }, nil) else { return false }
        defer { EVP_PKEY_free(key) }
        return SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1
    }
}
