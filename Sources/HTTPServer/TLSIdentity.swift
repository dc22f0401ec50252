internal import CLibcrypto

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
    /// - Throws: ``ServerError/identityRefused(reason:)``.
    public init(certificatePEM: String, keyPEM: String) throws(ServerError) {
        // Cleaning up at the end of the process races with threads that still run.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw .identityRefused(reason: "OpenSSL has no TLS")
        }
        self.context = context
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // Tickets let clients resume; a cache of sessions would only hold memory.
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        let modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(modes) | Int(SSL_MODE_RELEASE_BUFFERS), nil)
        defer { ERR_clear_error() }
        guard Self.withBuffer(certificatePEM, { Self.addCertificates(of: $0, to: context) }) else {
            throw .identityRefused(reason: "no certificate in PEM")
        }
        guard Self.withBuffer(keyPEM, { Self.setKey(of: $0, to: context) }) else {
            throw .identityRefused(reason: "no private key in PEM that fits the certificate")
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
