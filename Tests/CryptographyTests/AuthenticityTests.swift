import CLibcrypto
import CertificateMaking
import Testing

@testable import Cryptography

@Suite("OpenSSL alone decides")
struct AuthenticityTests {
    @Test("what is authentic, so once it refuses everything nothing is")
    func refusal() throws {
        let key = try PrivateKey.make(.p256)
        let rsa = try PrivateKey.make(.rsa(bits: 2048))
        let digest = SHA256.hash("message".utf8)
        let old = SHA1.hash("message".utf8)
        let raw = try #require(key.es256Signature(of: digest))
        let der = try #require(key.ecdsaSignature(of: digest))
        let rsaSignature = try rsa.signature(of: .sha256(digest))
        let oldSignature = try rsa.signature(of: .sha1(old))
        let chain = try CertificateChain(validity: 1_700_000_000...1_900_000_000)
        let leaf = try Certificate(der: chain.leafDER)
        func answers() -> [Bool] {
            [
                key.publicKey.isValidES256Signature(raw, of: digest),
                key.publicKey.isValidECDSASignature(der: der, of: digest),
                rsa.publicKey.isValidRSASignature(rsaSignature, of: .sha256(digest)),
                rsa.publicKey.isValidRSASignature(oldSignature, of: .sha1(old)),
                leaf.isSigned(by: chain.intermediate.key.publicKey),
            ]
        }
        #expect(answers() == [true, true, true, true, true])
        Authenticity.$refusesEverything.withValue(true) {
            #expect(answers() == [false, false, false, false, false])
        }
    }

    @Test("by the answer 1 and no other", arguments: [Int32.min, -2, -1, 0, 2, 256, .max])
    func otherAnswers(answer: Int32) {
        #expect(!Authenticity.isConfirmed(answer))
        #expect(Authenticity.isConfirmed(1))
    }

    @Test("and leaves no error behind for the next caller of the thread")
    func errorQueue() throws {
        let key = try PrivateKey.make(.p256)
        #expect(!key.publicKey.isValidECDSASignature(der: [0x30, 0x01], of: SHA256.hash("a".utf8)))
        #expect(ERR_peek_error() == 0)
        #expect((try? Certificate(der: [0x30, 0x03, 0x02, 0x01, 0x05])) == nil)
        #expect(ERR_peek_error() == 0)
        #expect((try? PrivateKey(p256PEM: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")) == nil)
        #expect(ERR_peek_error() == 0)
        #expect(PublicKey(p256Point: [4] + [UInt8](repeating: 1, count: 64)) == nil)
        #expect(ERR_peek_error() == 0)
        #expect((try? Certificate.certificates(pem: "text")) != nil)
        #expect(ERR_peek_error() == 0)
    }
}
