import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// Makes the certificates of a ``SimulatorAuthority``.
struct CertificateFactory {
    /// Receipts are checked at their creation date, which may lie long before the authority was made.
    let notValidBefore = Date(timeIntervalSince1970: 1_262_304_000)
    let notValidAfter: Date

    func key(_ algorithm: SimulatorAuthority.ReceiptAlgorithm) throws -> Certificate.PrivateKey {
        switch algorithm {
        case .ecdsa: Certificate.PrivateKey(P256.Signing.PrivateKey())
        case .rsa: Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        }
    }

    func root(named name: String) throws -> (Certificate, Certificate.PrivateKey) {
        let key = try key(.ecdsa)
        let subject = try subject(name)
        let certificate = try certificate(for: key.publicKey, subject: subject, issuer: subject, issuerKey: key) {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            SubjectKeyIdentifier(hash: key.publicKey)
        }
        return (certificate, key)
    }

    func server(
        issuer: Certificate, issuerKey: Certificate.PrivateKey
    ) throws -> (Certificate, Certificate.PrivateKey) {
        let key = try key(.ecdsa)
        let certificate = try certificate(
            for: key.publicKey, subject: subject("localhost"), issuer: issuer.subject, issuerKey: issuerKey
        ) {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.serverAuth])
            SubjectAlternativeNames([
                .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            ])
            AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: issuerKey.publicKey).keyIdentifier)
        }
        return (certificate, key)
    }

    /// Marked as Apple marks its Worldwide Developer Relations authority.
    func receiptIntermediate(
        issuer: Certificate, issuerKey: Certificate.PrivateKey
    ) throws -> (Certificate, Certificate.PrivateKey) {
        let key = try key(.ecdsa)
        let certificate = try certificate(
            for: key.publicKey, subject: subject("App Store Simulator Developer Relations"), issuer: issuer.subject,
            issuerKey: issuerKey
        ) {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            SubjectKeyIdentifier(hash: key.publicKey)
            AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: issuerKey.publicKey).keyIdentifier)
            Self.marker([1, 2, 840, 113635, 100, 6, 2, 1])
        }
        return (certificate, key)
    }

    /// Marked as Apple marks the certificates that sign receipts and transactions.
    func receiptLeaf(
        for key: Certificate.PrivateKey, issuer: Certificate, issuerKey: Certificate.PrivateKey
    ) throws -> Certificate {
        try certificate(
            for: key.publicKey, subject: subject("App Store Simulator Receipt Signing"), issuer: issuer.subject,
            issuerKey: issuerKey
        ) {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            SubjectKeyIdentifier(hash: key.publicKey)
            AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: issuerKey.publicKey).keyIdentifier)
            Self.marker([1, 2, 840, 113635, 100, 6, 11, 1])
        }
    }

    private func certificate(
        for key: Certificate.PublicKey, subject: DistinguishedName, issuer: DistinguishedName,
        issuerKey: Certificate.PrivateKey,
        @ExtensionsBuilder extensions: () throws -> Result<Certificate.Extensions, any Error>
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key, notValidBefore: notValidBefore,
            notValidAfter: notValidAfter, issuer: issuer, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions(builder: extensions), issuerPrivateKey: issuerKey)
    }

    private func subject(_ name: String) throws -> DistinguishedName {
        try DistinguishedName {
            CommonName(name)
            OrganizationName("App Store Simulator")
        }
    }

    /// Apple's markers carry an ASN.1 NULL; their presence is what counts.
    private static func marker(_ identifier: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: identifier, critical: false, value: [0x05, 0x00])
    }
}
