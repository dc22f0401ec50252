import Crypto
import Foundation
import Purchases
import SwiftASN1
import X509
import _CryptoExtras

@testable import AppStore

/// Leaf, intermediate and root, made once, with the leaf's key.
struct ReceiptChain: Sendable {
    /// What signs receipts.
    enum Key: Sendable {
        case p256(P256.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)

        var algorithm: [UInt8] {
            switch self {
            case .p256: ReceiptSigning.ecdsaWithSHA256
            case .rsa: ReceiptSigning.rsaEncryption + [5, 0]
            }
        }

        func sign(_ bytes: [UInt8], _ digest: ReceiptSigning.Digest) throws -> [UInt8] {
            switch (self, digest) {
            case (.p256(let key), .sha256): Array(try key.signature(for: SHA256.hash(data: bytes)).derRepresentation)
            case (.p256(let key), .sha1):
                Array(try key.signature(for: Insecure.SHA1.hash(data: bytes)).derRepresentation)
            case (.rsa(let key), .sha256):
                Array(try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
            case (.rsa(let key), .sha1):
                Array(
                    try key.signature(for: Insecure.SHA1.hash(data: bytes), padding: .insecurePKCS1v1_5)
                        .rawRepresentation)
            }
        }
    }

    /// Apple's names.
    private static let names = ["Receipt Signing", "Developer Relations", "Apple Root CA"]
    /// From before Apple gave up SHA-1 until after it.
    static let start = Date(timeIntervalSince1970: 1_300_000_000)
    static let end = Date(timeIntervalSince1970: 2_000_000_000)

    let key: Key
    /// Leaf, intermediate, root.
    let certificates: [Certificate]

    var leaf: Certificate { certificates[0] }
    var root: Certificate { certificates[2] }

    /// A chain on elliptic curves.
    init(_ builder: ChainBuilder) throws {
        key = .p256(builder.signingKey)
        certificates = try [builder.leafDER(), builder.intermediateDER(), builder.rootDER()].map {
            try Certificate(derEncoded: $0)
        }
    }

    private init(keys: [_RSA.Signing.PrivateKey], algorithms: [Certificate.SignatureAlgorithm]) throws {
        key = .rsa(keys[0])
        certificates = try (0..<3).map { index in
            let isLeaf = index == 0
            let issuer = min(index + 1, 2)
            let extensions = try Certificate.Extensions {
                Critical(
                    isLeaf ? BasicConstraints.notCertificateAuthority : .isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(digitalSignature: isLeaf, keyCertSign: !isLeaf))
                if index < 2 {
                    Certificate.Extension(
                        oid: isLeaf ? ChainBuilder.leafMarker : ChainBuilder.intermediateMarker, critical: false,
                        value: [0x05, 0x00])
                }
            }
            return try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(),
                publicKey: Certificate.PrivateKey(keys[index]).publicKey, notValidBefore: Self.start,
                notValidAfter: Self.end, issuer: DistinguishedName { CommonName(Self.names[issuer]) },
                subject: DistinguishedName { CommonName(Self.names[index]) },
                signatureAlgorithm: algorithms[index], extensions: extensions,
                issuerPrivateKey: Certificate.PrivateKey(keys[issuer]))
        }
    }

    private static let keys = Result { try (0..<3).map { _ in try _RSA.Signing.PrivateKey(keySize: .bits2048) } }

    /// A chain of RSA keys like Apple's, whose root is signed with SHA-1, which nobody has to believe.
    static func rsa(
        leaf: Certificate.SignatureAlgorithm = .sha256WithRSAEncryption,
        intermediate: Certificate.SignatureAlgorithm = .sha256WithRSAEncryption
    ) throws -> ReceiptChain {
        try ReceiptChain(keys: keys.get(), algorithms: [leaf, intermediate, .sha1WithRSAEncryption])
    }
}

extension ChainBuilder {
    /// One for all tests that change nothing.
    static let shared = ChainBuilder()
}
