import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A certificate authority made for one test run; nothing else trusts it.
struct TestAuthority: Sendable {
    private let root: Certificate
    private let rootKey: Certificate.PrivateKey
    /// A PEM file with the root alone.
    let caFile: String

    static let shared = Result { try TestAuthority() }

    init() throws {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        rootKey = key
        let name = try DistinguishedName { CommonName("Test Root \(UUID().uuidString)") }
        root = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: .now - 86_400, notValidAfter: .now + 86_400, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: key.publicKey)
            }, issuerPrivateKey: key)
        let file = FileManager.default.temporaryDirectory.appending(path: "http-transport-\(UUID().uuidString).pem")
        try (root.serializeAsPEM().pemString + "\n").write(to: file, atomically: true, encoding: .utf8)
        caFile = file.path
    }

    /// What a server shows: a certificate for `host` that ends `validFor` from now, and its key.
    func serverContext(host: String = "localhost", validFor: TimeInterval = 3600) throws -> NIOSSLContext {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: .now - 86_400, notValidAfter: .now + validFor, issuer: root.subject,
            subject: DistinguishedName { CommonName(host) }, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([.dnsName(host)])
                AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: rootKey.publicKey).keyIdentifier)
            }, issuerPrivateKey: rootKey)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [
                    .certificate(NIOSSLCertificate(bytes: Array(certificate.serializeAsPEM().derBytes), format: .der))
                ],
                privateKey: .privateKey(
                    NIOSSLPrivateKey(bytes: Array(key.serializeAsPEM().pemString.utf8), format: .pem))))
    }
}
