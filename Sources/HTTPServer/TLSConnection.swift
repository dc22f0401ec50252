internal import CLibcrypto
internal import Threading

/// TLS on a socket that does not block, on the server's side. For one thread; the socket is its owner's to close, later.
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
    func handshake() -> Transfer {
        ERR_clear_error()
        let result = SSL_do_handshake(session)
        return result == 1 ? .bytes(0) : failure(result)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(session, buffer.baseAddress, buffer.count, &count)
        return result == 1 ? .bytes(count) : failure(result)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
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
    private func failure(_ result: Int32) -> Transfer {
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: .blocked(.read)
        case SSL_ERROR_WANT_WRITE: .blocked(.write)
        case SSL_ERROR_ZERO_RETURN: .ended
        // A client that leaves without a farewell is one of them in OpenSSL 3.
        default: .failed
        }
    }
}
