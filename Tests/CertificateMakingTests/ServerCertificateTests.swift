import CLibcrypto
import CertificateMaking
import Testing

@Suite("Certificates of TLS servers")
struct ServerCertificateTests {
    private static let validity: ClosedRange<Int64> = 1_700_000_000...4_000_000_000

    /// OpenSSL's answer on a certificate for a server of this name; 0 for one that it takes.
    private func answer(_ certificate: String, root: String, host: String? = nil, address: String? = nil) -> Int32 {
        func read(_ pem: String) -> OpaquePointer? {
            pem.withCString { text in
                let bio = BIO_new_mem_buf(text, -1)
                defer { BIO_free(bio) }
                return PEM_read_bio_X509(bio, nil, nil, nil)
            }
        }
        let (leaf, root) = (read(certificate), read(root))
        let (store, context) = (X509_STORE_new(), X509_STORE_CTX_new())
        defer {
            X509_free(leaf)
            X509_free(root)
            X509_STORE_CTX_free(context)
            X509_STORE_free(store)
        }
        guard X509_STORE_add_cert(store, root) == 1, X509_STORE_CTX_init(context, store, leaf, nil) == 1,
            X509_STORE_CTX_set_default(context, "ssl_server") == 1
        else { return -1 }
        if let host { X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(context), host, 0) }
        if let address { X509_VERIFY_PARAM_set1_ip_asc(X509_STORE_CTX_get0_param(context), address) }
        return X509_verify_cert(context) == 1 ? 0 : X509_STORE_CTX_get_error(context)
    }

    @Test("clients that trust the root take it for its names and addresses, and for no others")
    func names() throws {
        let server = try ServerCertificate(hosts: ["localhost", "apple.test"], validity: Self.validity)
        #expect(answer(server.certificatePEM, root: server.rootPEM, host: "localhost") == X509_V_OK)
        #expect(answer(server.certificatePEM, root: server.rootPEM, host: "apple.test") == X509_V_OK)
        #expect(answer(server.certificatePEM, root: server.rootPEM, address: "127.0.0.1") == X509_V_OK)
        #expect(
            answer(server.certificatePEM, root: server.rootPEM, host: "example.com") == X509_V_ERR_HOSTNAME_MISMATCH)
    }

    @Test("another root of the same name makes nobody trust it")
    func otherRoot() throws {
        let server = try ServerCertificate(validity: Self.validity)
        let other = try ServerCertificate(validity: Self.validity)
        #expect(answer(server.certificatePEM, root: other.rootPEM, host: "localhost") != X509_V_OK)
    }

    @Test("one that ran out is told from one that holds")
    func expired() throws {
        let server = try ServerCertificate(validity: 1_000_000_000...1_100_000_000)
        #expect(answer(server.certificatePEM, root: server.rootPEM, host: "localhost") == X509_V_ERR_CERT_HAS_EXPIRED)
    }
}
