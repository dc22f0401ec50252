import CertificateMaking
import Cryptography
import Testing

@Suite("Chains like Apple's")
struct CertificateChainTests {
    private static let validity: ClosedRange<Int64> = 1_700_000_000...1_900_000_000

    @Test("root and intermediate are on P-384 and marked as authorities, the leaf is on P-256, each has its marker")
    func shape() throws {
        let chain = try CertificateChain(validity: Self.validity)
        let root = try Certificate(der: chain.rootDER)
        let intermediate = try Certificate(der: chain.intermediateDER)
        let leaf = try Certificate(der: chain.leafDER)
        #expect([root, intermediate, leaf].map(\.publicKey.kind) == [.p384, .p384, .p256])
        #expect([root, intermediate, leaf].map(\.isAuthority) == [true, true, false])
        #expect([root, intermediate, leaf].map(\.validity) == [Self.validity, Self.validity, Self.validity])
        #expect(root.isSigned(by: root.publicKey))
        #expect(intermediate.isSigned(by: root.publicKey))
        #expect(leaf.isSigned(by: intermediate.publicKey))
        #expect(intermediate.hasExtension("1.2.840.113635.100.6.2.1"))
        #expect(leaf.hasExtension("1.2.840.113635.100.6.11.1"))
    }

    @Test("a link can say anything: another algorithm, no extension, an old version, somebody else's signature")
    func changes() throws {
        var chain = try CertificateChain(leaf: .rsa(bits: 2048), authorities: .rsa(bits: 2048), validity: Self.validity)
        chain.leaf.template.digest = .sha1
        let leaf = try Certificate(der: chain.leafDER)
        #expect(leaf.signatureAlgorithm == .rsaWithSHA1)
        #expect(leaf.isSigned(by: chain.intermediate.key.publicKey))
        chain.leaf.template.extensions = []
        chain.leaf.signer = chain.root.key
        let bare = try Certificate(der: chain.leafDER)
        #expect(bare.extensions.isEmpty)
        #expect(bare.isSigned(by: chain.root.key.publicKey))
        chain.leaf.template.version = 1
        let old = try chain.leafDER
        #expect(throws: CertificateUnreadable.self) { try Certificate(der: old) }
    }

    @Test("the header of a signed transaction has leaf, intermediate and root in base64")
    func header() throws {
        let chain = try CertificateChain(validity: Self.validity)
        let texts = try chain.x5c
        #expect(texts.count == 3)
        let roots = try Certificate.certificates(pem: chain.rootPEM)
        #expect(roots.map(\.publicKey) == [chain.root.key.publicKey])
    }
}
