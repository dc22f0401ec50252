import CLibcrypto
import CertificateMaking
import Testing

@testable import Cryptography

@Suite("ES256 signatures")
struct ES256Tests {
    private static let digest = SHA256.hash("message".utf8)
    private static let key = Result { try PrivateKey.make(.p256) }

    /// A signature of the key over the digest, whose bytes fulfil a condition.
    private func signature(where isWanted: ([UInt8]) -> Bool = { _ in true }) throws -> [UInt8] {
        let key = try Self.key.get()
        for _ in 0..<100_000 {
            let signature = try #require(key.es256Signature(of: Self.digest))
            if isWanted(signature) { return signature }
        }
        throw MakingFailedForTest()
    }

    private struct MakingFailedForTest: Error {}

    private func holds(_ signature: [UInt8]) throws -> Bool {
        try Self.key.get().publicKey.isValidES256Signature(signature, of: Self.digest)
    }

    private func holds(der: [UInt8]) throws -> Bool {
        try Self.key.get().publicKey.isValidECDSASignature(der: der, of: Self.digest)
    }

    @Test("the signatures of RFC 6979, appendix A.2.5, hold")
    func vectors() throws {
        let point =
            "04 60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
            + "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"
        let key = try #require(PublicKey.p256(point: bytes(point)))
        let sample = bytes(
            "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
                + "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8")
        let test = bytes(
            "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367"
                + "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083")
        #expect(key.isValidES256Signature(sample, of: SHA256.hash("sample".utf8)))
        #expect(key.isValidES256Signature(test, of: SHA256.hash("test".utf8)))
        #expect(!key.isValidES256Signature(sample, of: SHA256.hash("test".utf8)))
        #expect(!key.isValidES256Signature(test, of: SHA256.hash("sample".utf8)))
    }

    @Test("what a key signs it confirms, in both spellings, and no other key does")
    func roundTrip() throws {
        let key = try Self.key.get()
        let other = try PrivateKey.make(.p256)
        let raw = try signature()
        let der = try #require(key.ecdsaSignature(of: Self.digest))
        #expect(raw.count == 64)
        #expect(try holds(raw))
        #expect(try holds(der: der))
        #expect(!other.publicKey.isValidES256Signature(raw, of: Self.digest))
        #expect(!other.publicKey.isValidECDSASignature(der: der, of: Self.digest))
    }

    @Test("a change of any bit of it, and it does not hold")
    func damaged() throws {
        let signature = try signature()
        for index in signature.indices {
            for bit in 0..<8 {
                var damaged = signature
                damaged[index] ^= 1 << bit
                #expect(try !holds(damaged))
            }
        }
    }

    @Test("the other form that every signature has, with the order less s, holds, too")
    func highS() throws {
        let signature = try signature()
        #expect(try holds(signature[..<32] + P256Order.minus(signature[32...])))
        #expect(try !holds(P256Order.minus(signature[..<32]) + signature[32...]))
    }

    @Test("numbers at the ends of the range do not hold: 0, 1, the order and its neighbours, all ones")
    func ends() throws {
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let zero = [UInt8](repeating: 0, count: 32)
        let before = P256Order.minus(one[...])
        var after = P256Order.bytes
        after[31] += 1
        let numbers = [zero, one, before, P256Order.bytes, after, [UInt8](repeating: 0xff, count: 32)]
        let signature = try signature()
        for first in numbers {
            #expect(try !holds(first + signature[32...]))
            #expect(try !holds(signature[..<32] + first))
            for second in numbers { #expect(try !holds(first + second)) }
        }
    }

    @Test("numbers that begin with zeros or a high bit hold as they are", arguments: [0, 32])
    func leadingBits(place: Int) throws {
        #expect(try holds(signature { $0[place] == 0 && $0[place + 1] < 0x80 }))
        #expect(try holds(signature { $0[place] == 0 && $0[place + 1] >= 0x80 }))
        #expect(try holds(signature { $0[place] >= 0x80 }))
        #expect(try holds(signature { (1..<0x80).contains($0[place]) }))
    }

    @Test("any other number of bytes is no signature", arguments: [0, 1, 32, 63, 65, 72, 96, 128])
    func sizes(count: Int) throws {
        let signature = try signature()
        #expect(try !holds(Array((signature + signature).prefix(count))))
    }

    @Test("DER is not taken where r and s are asked for, nor the other way round")
    func spellings() throws {
        let key = try Self.key.get()
        #expect(try !holds(#require(key.ecdsaSignature(of: Self.digest))))
        #expect(try !holds(der: signature()))
    }

    /// Spellings of one signature that are no DER.
    static let forms: [(name: String, make: @Sendable (_ r: [UInt8], _ s: [UInt8]) -> [UInt8])] = [
        ("a byte behind the end", { DER.sequence($0, $1) + [0] }),
        ("a byte inside, behind the numbers", { DER.value(tag: 0x30, $0 + $1 + [0]) }),
        ("a third number", { DER.sequence($0, $1, DER.integer(1)) }),
        ("one number", { r, _ in DER.sequence(r) }),
        ("a length of two bytes that needs one", { [0x30, 0x81, UInt8(($0 + $1).count)] + $0 + $1 }),
        ("a number's length of two bytes", { [0x30, UInt8(($0 + $1).count + 1), 0x02, 0x81] + $0.dropFirst() + $1 }),
        ("an indefinite length", { [0x30, 0x80] + $0 + $1 + [0, 0] }),
        ("a length that is too large", { [0x30, UInt8(($0 + $1).count + 1)] + $0 + $1 }),
        ("a length that is too small", { [0x30, UInt8(($0 + $1).count - 1)] + $0 + $1 }),
        ("a zero too many in front", { DER.sequence(DER.value(tag: 2, [0] + $0.dropFirst(2)), $1) }),
        ("a set", { DER.set($0, $1) }),
        ("octet strings", { DER.sequence(DER.octetString($0.dropFirst(2)), DER.octetString($1.dropFirst(2))) }),
        ("nothing", { _, _ in [] }),
        ("an empty sequence", { _, _ in DER.sequence() }),
        ("empty numbers", { _, _ in DER.sequence([2, 0], [2, 0]) }),
    ]

    @Test("only DER is taken, in its one form", arguments: forms.map(\.name))
    func strictness(name: String) throws {
        let signature = try signature { $0[0] < 0x80 && $0[0] > 0 }
        let r = DER.integer(magnitude: signature[..<32])
        let s = DER.integer(magnitude: signature[32...])
        #expect(try holds(der: DER.sequence(r, s)))
        let form = try #require(Self.forms.first { $0.name == name })
        #expect(try !holds(der: form.make(r, s)))
    }

    @Test("a number without the zero that keeps it from being negative does not hold")
    func negative() throws {
        let signature = try signature { $0[0] >= 0x80 }
        let s = DER.integer(magnitude: signature[32...])
        #expect(try holds(der: DER.sequence(DER.integer(magnitude: signature[..<32]), s)))
        #expect(try !holds(der: DER.sequence(DER.value(tag: 2, signature[..<32]), s)))
    }

    @Test("zeros do not hold in DER either")
    func zeros() throws {
        #expect(try !holds(der: DER.sequence(DER.integer(0), DER.integer(0))))
    }

    @Test("keys of other kinds sign and confirm nothing", arguments: [KeyKind.p384, .rsa(bits: 2048)])
    func otherKeys(kind: KeyKind) throws {
        let other = try PrivateKey.make(kind)
        #expect(other.es256Signature(of: Self.digest) == nil)
        #expect(try !other.publicKey.isValidES256Signature(signature(), of: Self.digest))
        let own = try other.signature(of: .sha256(Self.digest))
        #expect(!other.publicKey.isValidECDSASignature(der: own, of: Self.digest))
    }

    @Test("many threads with one key get the right answers, good and bad ones by turns")
    func threads() async throws {
        let key = try Self.key.get().publicKey
        let good = try signature()
        var bad = good
        bad[40] ^= 4
        await withTaskGroup(of: Bool.self) { [bad] group in
            for task in 0..<16 {
                group.addTask {
                    (0..<200).allSatisfy { turn in
                        let isGood = (turn + task) % 2 == 0
                        return key.isValidES256Signature(isGood ? good : bad, of: Self.digest) == isGood
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

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
        Authenticity.$checksNothing.withValue(true) {
            #expect(answers() == [false, false, false, false, false])
            #expect(key.publicKey.answer(es256: raw, of: digest) == .unchecked)
            #expect(key.publicKey.answer(ecdsa: der, of: digest) == .unchecked)
            #expect(rsa.publicKey.answer(rsa: rsaSignature, of: .sha256(digest)) == .unchecked)
            #expect(leaf.answer(signedBy: chain.intermediate.key.publicKey) == .unchecked)
        }
    }

    @Test("and a check that could not be made is no refusal", arguments: [0, -1] as [Int32])
    func unchecked(answer: Int32) {
        func leave(_ reason: Int32) {
            ERR_new()
            withVaList([]) { ERR_vset_error(ERR_LIB_CRYPTO, reason, nil, $0) }
        }
        #expect(Authenticity.answer(nil) == .unchecked)
        #expect(Authenticity.answer(answer) == .fails)
        leave(OpenSSL.outOfMemory)
        leave(Int32(ERR_R_NESTED_ASN1_ERROR))
        #expect(Authenticity.answer(answer) == .unchecked)
        leave(Int32(ERR_R_NESTED_ASN1_ERROR))
        #expect(Authenticity.answer(answer) == .fails)
        #expect(ERR_peek_error() == 0)
        let text = ERR_reason_error_string(UInt(ERR_LIB_CRYPTO) << 23 | UInt(OpenSSL.outOfMemory))
        #expect(text.map { String(cString: $0) } == "malloc failure")
    }

    @Test("by the answer 1 and no other", arguments: [Int32.min, -2, -1, 0, 2, 256, .max])
    func otherAnswers(answer: Int32) {
        #expect(Authenticity.answer(answer) == .fails)
        #expect(Authenticity.answer(1) == .holds)
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
        #expect(PublicKey.p256(point: [4] + [UInt8](repeating: 1, count: 64)) == nil)
        #expect(ERR_peek_error() == 0)
        #expect((try? Certificate.certificates(pem: "text")) != nil)
        #expect(ERR_peek_error() == 0)
    }
}
