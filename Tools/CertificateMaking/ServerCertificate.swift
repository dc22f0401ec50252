internal import Cryptography

/// A certificate for a TLS server, under a root of its own.
public struct ServerCertificate: Sendable {
    /// The certificate that clients are to trust.
    public let rootPEM: String
    public let certificatePEM: String
    public let keyPEM: String

    /// Draws new keys on P-256 and makes both certificates.
    ///
    /// - Parameters:
    ///   - hosts: DNS names of the server.
    ///   - addresses: its addresses, 4 bytes or 16.
    ///   - validity: in seconds since 1970.
    public init(
        hosts: [String] = ["localhost"], addresses: [[UInt8]] = [[127, 0, 0, 1]], validity: ClosedRange<Int64>
    ) throws(MakingFailed) {
        let rootKey = try PrivateKey.make(.p256)
        let key = try PrivateKey.make(.p256)
        let root = CertificateTemplate(
            subject: "Test TLS Root", issuer: "Test TLS Root", notBefore: validity.lowerBound,
            notAfter: validity.upperBound,
            extensions: [.basicConstraints(isAuthority: true), .keyUsage(.keyCertSign, .crlSign)])
        let server = CertificateTemplate(
            subject: hosts.first ?? "server", issuer: root.subject, notBefore: validity.lowerBound,
            notAfter: validity.upperBound,
            extensions: [
                .basicConstraints(isAuthority: false), .keyUsage(.digitalSignature), .serverAuthentication,
                .subjectAlternativeNames(hosts: hosts, addresses: addresses),
            ])
        rootPEM = try Self.pem(root.certificate(for: rootKey.publicKey, signedBy: rootKey))
        certificatePEM = try Self.pem(server.certificate(for: key.publicKey, signedBy: rootKey))
        keyPEM = try key.pem
    }

    private static func pem(_ der: [UInt8]) throws(MakingFailed) -> String {
        guard let certificate = try? Certificate(der: der) else { throw MakingFailed("certificate") }
        return try certificate.pem
    }
}
