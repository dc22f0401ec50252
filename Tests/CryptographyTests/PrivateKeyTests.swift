import CertificateMaking
import Cryptography
import Testing

@Suite("Keys")
struct KeyTests {
    @Test("say what they are", arguments: [KeyKind.p256, .p384, .rsa(bits: 2048)])
    func kinds(kind: KeyKind) throws {
        let expected: PublicKey.Kind =
            switch kind {
            case .p256, .p256SpelledOut: .p256
            case .p384: .p384
            case .rsa(let bits): .rsa(bits: bits)
            }
        #expect(try PrivateKey.make(kind).publicKey.kind == expected)
    }

    @Test("a key whose curve is spelled out instead of named is of no kind that counts")
    func spelledOut() throws {
        let key = try PrivateKey.make(.p256SpelledOut)
        #expect(try PublicKey(pem: key.publicKey.pem)?.kind == .other)
        let pem = try key.pem
        #expect(throws: PrivateKey.Unusable.notP256) { try PrivateKey(p256PEM: pem) }
    }

    @Test("a private key is read from PEM, as Apple hands it out, and signs")
    func pem() throws {
        let key = try PrivateKey.make(.p256)
        let read = try PrivateKey(p256PEM: key.pem)
        #expect(read == key)
        let digest = SHA256.hash("message".utf8)
        let signature = try #require(read.es256Signature(of: digest))
        #expect(key.publicKey.isValidES256Signature(signature, of: digest))
        #expect(try PublicKey(pem: key.publicKey.pem) == key.publicKey)
        #expect(try PublicKey.p256(point: key.publicKey.point) == key.publicKey)
    }

    @Test("private keys of other kinds are told from damaged ones")
    func otherPEM() throws {
        let other = try PrivateKey.make(.p384).pem
        #expect(throws: PrivateKey.Unusable.notP256) { try PrivateKey(p256PEM: other) }
        let rsa = try PrivateKey.make(.rsa(bits: 2048)).pem
        #expect(throws: PrivateKey.Unusable.notP256) { try PrivateKey(p256PEM: rsa) }
        let key = try PrivateKey.make(.p256).pem
        let publicKey = try PrivateKey.make(.p256).publicKey.pem
        let long = key + String(repeating: " ", count: PrivateKey.maxBytes)
        for text in ["", "key", String(key.dropLast(60)), publicKey, long] {
            #expect(throws: PrivateKey.Unusable.unreadable) { try PrivateKey(p256PEM: text) }
        }
    }

    @Test("a key whose halves do not belong together is damaged: what it signs nobody takes")
    func halves() throws {
        _ = try PrivateKey(p256PEM: SampleKey.pem)
        let damaged = SampleKey.pem.replacing("Bxpef9", with: "Cxpef9")
        #expect(throws: PrivateKey.Unusable.unreadable) { try PrivateKey(p256PEM: damaged) }
    }

    @Test("a key that is locked with a password is unreadable, and nobody is asked for it")
    func locked() {
        let text = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgAAAAAAAAAAAICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEAAAAAAAAAAAAAAAAAAAAAAEgZAA
            -----END ENCRYPTED PRIVATE KEY-----
            """
        #expect(throws: PrivateKey.Unusable.unreadable) { try PrivateKey(p256PEM: text) }
    }

    @Test("points that are not on the curve are no keys")
    func points() throws {
        let point = try PrivateKey.make(.p256).publicKey.point
        var outside = point
        outside[64] ^= 1
        let zero = [4] + [UInt8](repeating: 0, count: 64)
        #expect(PublicKey.p256(point: outside) == nil)
        #expect(PublicKey.p256(point: zero) == nil)
    }

    @Test("a private key is never described")
    func secrecy() throws {
        let key = try PrivateKey.make(.p256)
        #expect("\(key)" == "PrivateKey")
        #expect(String(reflecting: key) == "PrivateKey")
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}
