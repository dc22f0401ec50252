import CertificateMaking
import Cryptography

@testable import AppStore

/// Leaf, intermediate and root, made once, with the leaf's key.
struct ReceiptChain: Sendable {
    /// From before Apple gave up SHA-1 until after it.
    private static let validity: ClosedRange<Int64> = 1_300_000_000...2_000_000_000

    let key: PrivateKey
    /// Leaf, intermediate, root.
    let certificates: [Certificate]

    var leaf: Certificate { certificates[0] }
    var root: Certificate { certificates[2] }

    /// A chain on elliptic curves.
    init(_ builder: ChainBuilder) throws {
        key = builder.signingKey
        certificates = try [
            Certificate(der: builder.leafDER()), Certificate(der: builder.intermediateDER()),
            builder.rootCertificate(),
        ]
    }

    private init(_ chain: CertificateChain) throws {
        key = chain.leaf.key
        certificates = try [
            Certificate(der: chain.leafDER), Certificate(der: chain.intermediateDER), Certificate(der: chain.rootDER),
        ]
    }

    private static let keys = Result { try (0..<3).map { _ in try PrivateKey.make(.rsa(bits: 2048)) } }

    /// A chain of RSA keys like Apple's. Its root is signed with SHA-1, which does not matter.
    static func rsa(
        leaf: CertificateTemplate.Digest = .sha256, intermediate: CertificateTemplate.Digest = .sha256
    ) throws -> ReceiptChain {
        let keys = try keys.get()
        var chain = CertificateChain(
            keys: (keys[2], keys[1], keys[0]), validity: validity,
            names: ("Apple Root CA", "Developer Relations", "Receipt Signing"))
        chain.leaf.template.digest = leaf
        chain.intermediate.template.digest = intermediate
        chain.root.template.digest = .sha1
        return try ReceiptChain(chain)
    }
}

extension ChainBuilder {
    /// One for all tests that change nothing.
    static let shared = ChainBuilder()
}
