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

    func issuer(named name: String, key: Certificate.PrivateKey) throws -> Issuer {
        Issuer(subject: try subject(name), key: key)
    }

    func root(_ issuer: Issuer) throws -> Certificate {
        try certificate(for: issuer.key.publicKey, subject: issuer.subject, issuer: issuer) {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            SubjectKeyIdentifier(hash: issuer.key.publicKey)
        }
    }

    func server(for key: Certificate.PublicKey, issuer: Issuer) throws -> Certificate {
        try certificate(for: key, subject: subject("localhost"), issuer: issuer) {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.serverAuth])
            SubjectAlternativeNames([
                .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            ])
            issuer.keyIdentifier
        }
    }

    /// Root and intermediate of new keys, and a leaf for a key that signs, marked as Apple marks those of receipts and
    /// of signed data.
    ///
    /// - Parameters:
    ///   - purpose: What is signed; stands in the certificates' names.
    ///   - issuerKey: Draws the key of the root, then the intermediate's.
    func signingChain(
        _ purpose: String, for key: Certificate.PublicKey, issuerKey: () throws -> Certificate.PrivateKey
    ) throws -> SigningChain {
        let root = try issuer(named: "App Store Simulator \(purpose) Root", key: issuerKey())
        let intermediate = try issuer(named: "App Store Simulator \(purpose) Relations", key: issuerKey())
        return SigningChain(
            leaf: try leaf(for: key, named: "App Store Simulator \(purpose) Signing", issuer: intermediate),
            intermediate: try self.intermediate(intermediate, issuer: root), root: try self.root(root))
    }

    /// Marked as Apple marks its Worldwide Developer Relations authority.
    private func intermediate(_ intermediate: Issuer, issuer: Issuer) throws -> Certificate {
        try certificate(for: intermediate.key.publicKey, subject: intermediate.subject, issuer: issuer) {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            SubjectKeyIdentifier(hash: intermediate.key.publicKey)
            issuer.keyIdentifier
            Self.marker([1, 2, 840, 113635, 100, 6, 2, 1])
        }
    }

    /// Marked as Apple marks the certificates that sign receipts and transactions.
    private func leaf(for key: Certificate.PublicKey, named name: String, issuer: Issuer) throws -> Certificate {
        try certificate(for: key, subject: subject(name), issuer: issuer) {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            SubjectKeyIdentifier(hash: key)
            issuer.keyIdentifier
            Self.marker([1, 2, 840, 113635, 100, 6, 11, 1])
        }
    }

    private func certificate(
        for key: Certificate.PublicKey, subject: DistinguishedName, issuer: Issuer,
        @ExtensionsBuilder extensions: () throws -> Result<Certificate.Extensions, any Error>
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key, notValidBefore: notValidBefore,
            notValidAfter: notValidAfter, issuer: issuer.subject, subject: subject,
            signatureAlgorithm: issuer.signatureAlgorithm, extensions: Certificate.Extensions(builder: extensions),
            issuerPrivateKey: issuer.key)
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

/// Who signs a certificate.
struct Issuer {
    let subject: DistinguishedName
    let key: Certificate.PrivateKey

    /// Apple's authorities of P-384 sign with SHA-384, those of P-256 with SHA-256.
    var signatureAlgorithm: Certificate.SignatureAlgorithm {
        P384.Signing.PublicKey(key.publicKey) == nil ? .ecdsaWithSHA256 : .ecdsaWithSHA384
    }

    var keyIdentifier: AuthorityKeyIdentifier {
        AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: key.publicKey).keyIdentifier)
    }
}
