import CertificateMaking
import Cryptography
import Testing

@Suite("RSA signatures")
struct RSATests {
    private static let key = Result { try PrivateKey.make(.rsa(bits: 2048)) }
    private static let sha256 = MessageDigest.sha256(SHA256.hash("message".utf8))
    private static let sha1 = MessageDigest.sha1(SHA1.hash("message".utf8))

    private func holds(_ signature: [UInt8], _ digest: MessageDigest) throws -> Bool {
        try Self.key.get().publicKey.isValidRSASignature(signature, of: digest)
    }

    @Test("hold for the digest that was signed, and for no other")
    func digests() throws {
        let key = try Self.key.get()
        let first = try key.signature(of: Self.sha256)
        let second = try key.signature(of: Self.sha1)
        #expect(try holds(first, Self.sha256))
        #expect(try holds(second, Self.sha1))
        #expect(try !holds(first, Self.sha1))
        #expect(try !holds(second, Self.sha256))
        #expect(try !holds(first, .sha256(SHA256.hash("other".utf8))))
        let other = try PrivateKey.make(.rsa(bits: 2048))
        #expect(!other.publicKey.isValidRSASignature(first, of: Self.sha256))
    }

    @Test("damaged, cut, longer or empty ones do not hold")
    func damaged() throws {
        let signature = try Self.key.get().signature(of: Self.sha256)
        for index in signature.indices {
            var damaged = signature
            damaged[index] ^= 0x10
            #expect(try !holds(damaged, Self.sha256))
        }
        for other in [[], Array(signature.dropLast()), signature + [0], [0] + signature, Array(signature.dropFirst())] {
            #expect(try !holds(other, Self.sha256))
        }
        #expect(try !holds([UInt8](repeating: 0, count: 256), Self.sha256))
        #expect(try !holds([UInt8](repeating: 0xff, count: 256), Self.sha256))
    }

    @Test("a key of 1024 bits confirms nothing, not even what it signed")
    func short() throws {
        let key = try PrivateKey.make(.rsa(bits: 1024))
        #expect(key.publicKey.kind == .rsa(bits: 1024))
        #expect(try !key.publicKey.isValidRSASignature(key.signature(of: Self.sha256), of: Self.sha256))
    }

    @Test("a key on a curve confirms no RSA signature")
    func otherKind() throws {
        let signature = try Self.key.get().signature(of: Self.sha256)
        #expect(try !PrivateKey.make(.p256).publicKey.isValidRSASignature(signature, of: Self.sha256))
    }
}
