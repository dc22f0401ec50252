import CertificateMaking
import Cryptography
import Testing

@Suite("Certificates")
struct CertificateTests {
    private static let validity: ClosedRange<Int64> = 1_700_000_000...1_900_000_000
    private static let chain = Result { try CertificateChain(validity: validity) }

    /// The leaf of the chain with a change.
    private func leaf(_ change: (inout CertificateTemplate) -> Void) throws -> [UInt8] {
        var chain = try Self.chain.get()
        change(&chain.leaf.template)
        return try chain.leafDER
    }

    private func read(_ der: [UInt8]) -> Certificate? { try? Certificate(der: der) }

    @Test("say what they say")
    func parts() throws {
        let chain = try Self.chain.get()
        let root = try Certificate(der: chain.rootDER)
        let intermediate = try Certificate(der: chain.intermediateDER)
        let der = try chain.leafDER
        let leaf = try Certificate(der: der)
        #expect(leaf.der == der)
        #expect(leaf.issuer == intermediate.subject)
        #expect(intermediate.issuer == root.subject)
        #expect(leaf.subject != intermediate.subject)
        #expect(leaf.validity == Self.validity)
        #expect(leaf.publicKey == chain.leaf.key.publicKey)
        #expect(!leaf.isAuthority)
        #expect(leaf.pathLength == nil)
        #expect(intermediate.isAuthority)
        #expect(intermediate.pathLength == 0)
        #expect(root.pathLength == nil)
        #expect(leaf.keyUsage == .digitalSignature)
        #expect(root.keyUsage?.contains(.keyCertSign) == true)
        #expect(leaf.hasExtension("1.2.840.113635.100.6.11.1"))
        #expect(!leaf.hasExtension("1.2.840.113635.100.6.2.1"))
        #expect(leaf.extensions.filter(\.isCritical).map(\.identifier) == ["2.5.29.19", "2.5.29.15"])
        #expect(leaf.signatureAlgorithm == .ecdsaWithSHA384)
    }

    @Test("are signed by their issuer alone")
    func signatures() throws {
        let chain = try Self.chain.get()
        let leaf = try Certificate(der: chain.leafDER)
        let intermediate = try Certificate(der: chain.intermediateDER)
        #expect(leaf.isSigned(by: chain.intermediate.key.publicKey))
        #expect(intermediate.isSigned(by: chain.root.key.publicKey))
        #expect(!leaf.isSigned(by: chain.root.key.publicKey))
        #expect(!leaf.isSigned(by: chain.leaf.key.publicKey))
    }

    @Test("an algorithm that does not count signs nothing")
    func algorithms() throws {
        let rsa = try PrivateKey.make(.rsa(bits: 2048))
        for (digest, counts) in [(CertificateTemplate.Digest.md5, false), (.sha1, true), (.sha512, true)] {
            var chain = try Self.chain.get()
            chain.leaf.signer = rsa
            chain.leaf.template.digest = digest
            #expect(try Certificate(der: chain.leafDER).isSigned(by: rsa.publicKey) == counts)
        }
    }

    @Test("without an extension for it they say nothing of authority and use")
    func withoutExtensions() throws {
        let bare = try #require(read(leaf { $0.extensions = [] }))
        #expect(!bare.isAuthority)
        #expect(bare.keyUsage == nil)
        #expect(bare.extensions.isEmpty)
    }

    @Test("are of version 3", arguments: [1, 2])
    func versions(version: Int) throws {
        #expect(
            try read(
                leaf {
                    $0.version = version
                    $0.extensions = []
                }) == nil)
    }

    @Test("an extension that stands twice, known or not, or is damaged, makes them unreadable")
    func damagedExtensions() throws {
        let unknown = CertificateTemplate.Extension("1.3.6.1.4.1.99999", value: DER.null)
        #expect(try read(leaf { $0.extensions.append(unknown) }) != nil)
        #expect(try read(leaf { $0.extensions += [unknown, unknown] }) == nil)
        #expect(try read(leaf { $0.extensions.append(.basicConstraints(isAuthority: true)) }) == nil)
        #expect(try read(leaf { $0.extensions.append(.keyUsage(.keyCertSign)) }) == nil)
        for identifier in ["2.5.29.19", "2.5.29.15"] {
            let damaged = CertificateTemplate.Extension(identifier, isCritical: true, value: [0x04, 0x01])
            #expect(try read(leaf { $0.extensions = [damaged] }) == nil)
        }
    }

    @Test("are DER from the first byte to the last")
    func encoding() throws {
        let der = try leaf { _ in }
        let contents = Array(der.dropFirst(4))
        #expect(DER.value(tag: 0x30, contents) == der)
        let indefinite = [0x30, 0x80] + contents + [0, 0]
        let longer = [0x30, 0x83, 0] + der[2...]
        let others = [
            [], der + [0], Array(der.dropLast()), indefinite, longer, [0x30, 0], Array(repeating: 0x30, count: 4000),
        ]
        for other in others { #expect(read(other) == nil) }
    }

    @Test("are read up to a bound")
    func bound() throws {
        let large = CertificateTemplate.Extension(
            "1.3.6.1.4.1.99999", value: DER.octetString([UInt8](repeating: 0, count: Certificate.maxBytes)))
        #expect(try read(leaf { $0.extensions.append(large) }) == nil)
    }

    @Test("moments are whole seconds of UTC", arguments: ["2601010000Z", "260101000000+0100", "260101000000.5Z", "26"])
    func moments(text: String) throws {
        #expect(try read(leaf { $0.validityTexts = ("260101000000Z", "270101000000Z") }) != nil)
        #expect(try read(leaf { $0.validityTexts = (text, "270101000000Z") }) == nil)
        #expect(try read(leaf { $0.validityTexts = ("250101000000Z", text) }) == nil)
    }

    @Test("one that ends before it begins is never valid")
    func reversed() throws {
        let reversed = try #require(
            read(
                leaf {
                    $0.notBefore = 1_800_000_000
                    $0.notAfter = 1_700_000_000
                }))
        #expect(reversed.validity == nil)
    }

    @Test("a key on a curve that is spelled out counts for nothing")
    func spelledOut() throws {
        var chain = try Self.chain.get()
        chain.leaf.key = try PrivateKey.make(.p256SpelledOut)
        #expect(try Certificate(der: chain.leafDER).publicKey.kind == .other)
    }

    @Test("are read from PEM text in their order; a damaged or foreign block is not passed over")
    func pem() throws {
        let chain = try Self.chain.get()
        let first = try Certificate(der: chain.rootDER)
        let second = try Certificate(der: chain.leafDER)
        let text = try "roots:\n" + first.pem + "\n" + second.pem
        #expect(try Certificate.certificates(pem: text).map(\.der) == [first.der, second.der])
        #expect(try Certificate.certificates(pem: "").isEmpty)
        let key = try chain.leaf.key.pem
        for other in [text + key, String(text.dropLast(40)), "-----BEGIN CERTIFICATE-----\n", key] {
            #expect(throws: CertificateUnreadable.self) { try Certificate.certificates(pem: other) }
        }
    }
}
