import Crypto
import Foundation
import Purchases
import SwiftASN1
import X509
import _CryptoExtras

@testable import AppStore

/// Makes a chain like Apple's, or one that differs from it in whatever a test changes.
struct ChainBuilder {
    /// What a certificate says.
    struct Link {
        var subject: String
        var issuer: String
        var key: Certificate.PrivateKey
        var constraints: BasicConstraints?
        var usage: KeyUsage?
        var marker: ASN1ObjectIdentifier?
        var notBefore = ChainBuilder.start
        var notAfter = ChainBuilder.end
        /// Further extensions.
        var extensions: [Certificate.Extension] = []
        /// The key that signs it; nil is its issuer's.
        var signer: Certificate.PrivateKey?
    }

    static let start = Fixture.now.advanced(by: .seconds(-86_400 * 400))
    static let end = Fixture.now.advanced(by: .seconds(86_400 * 400))
    static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]
    static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    static let unknown: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 99_999]

    var root = Link(
        subject: "Root", issuer: "Root", key: Certificate.PrivateKey(P384.Signing.PrivateKey()),
        constraints: .isCertificateAuthority(maxPathLength: nil), usage: KeyUsage(keyCertSign: true, cRLSign: true))
    var intermediate = Link(
        subject: "Intermediate", issuer: "Root", key: Certificate.PrivateKey(P384.Signing.PrivateKey()),
        constraints: .isCertificateAuthority(maxPathLength: 0), usage: KeyUsage(keyCertSign: true, cRLSign: true),
        marker: intermediateMarker)
    var leaf: Link
    /// Signs transactions, unless a test gives the leaf another key.
    let signingKey: P256.Signing.PrivateKey

    init() {
        signingKey = P256.Signing.PrivateKey()
        leaf = Link(
            subject: "Leaf", issuer: "Intermediate", key: Certificate.PrivateKey(signingKey),
            constraints: .notCertificateAuthority, usage: KeyUsage(digitalSignature: true), marker: Self.leafMarker)
    }

    /// A builder with changes.
    init(_ change: (inout ChainBuilder) -> Void) {
        self.init()
        change(&self)
    }

    func rootCertificate() throws -> Certificate { try certificate(root, issuerKey: root.key) }
    func rootDER() throws -> [UInt8] { try Self.der(rootCertificate()) }
    func intermediateDER() throws -> [UInt8] { try Self.der(certificate(intermediate, issuerKey: root.key)) }
    func leafDER() throws -> [UInt8] { try Self.der(certificate(leaf, issuerKey: intermediate.key)) }

    /// This builder's root as the only one that is trusted.
    func roots() throws -> TrustedRoots { TrustedRoots(certificates: [try rootCertificate()]) }

    private func certificate(_ link: Link, issuerKey: Certificate.PrivateKey) throws -> Certificate {
        var extensions = Certificate.Extensions()
        if let constraints = link.constraints {
            try extensions.append(Certificate.Extension(constraints, critical: true))
        }
        if let usage = link.usage { try extensions.append(Certificate.Extension(usage, critical: true)) }
        if let marker = link.marker {
            try extensions.append(Certificate.Extension(oid: marker, critical: false, value: [0x05, 0x00]))
        }
        for more in link.extensions { try extensions.append(more) }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: link.key.publicKey,
            notValidBefore: Self.date(link.notBefore), notValidAfter: Self.date(link.notAfter),
            issuer: DistinguishedName { CommonName(link.issuer) },
            subject: DistinguishedName { CommonName(link.subject) },
            extensions: extensions, issuerPrivateKey: link.signer ?? issuerKey)
    }

    private static func date(_ moment: Timestamp) -> Date {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000)
    }

    static func der(_ certificate: Certificate) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}
