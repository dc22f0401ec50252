import Cryptography
import Testing

@Suite("Digests")
struct DigestTests {
    static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test("SHA-256 gives the digests of FIPS 180-4")
    func sha256() {
        #expect(SHA256.hash("abc".utf8).hex == Self.abc)
        #expect(
            SHA256.hash([]).hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            SHA256.hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8).hex
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    @Test("SHA-1 gives the digests of FIPS 180-4")
    func sha1() {
        #expect(SHA1.hash("abc".utf8) == bytes("a9993e364706816aba3e25717850c26c9cd0d89d"))
        #expect(SHA1.hash([]) == bytes("da39a3ee5e6b4b0d3255bfef95601890afd80709"))
    }

    @Test("takes bytes in pieces of any size, also empty ones", arguments: [1, 3, 63, 64, 65, 1000])
    func pieces(size: Int) {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var sha256 = SHA256()
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = bytes[start..<min(start + size, bytes.count)]
            sha256.update(piece)
            sha256.update([])
        }
        #expect(sha256.finish() == SHA256.hash(bytes))
    }

    @Test("a copy goes on by itself from the same beginning")
    func copies() {
        var first = SHA256()
        first.update("a".utf8)
        var second = first.copy()
        first.update("xyz".utf8)
        second.update("bc".utf8)
        #expect(second.finish().hex == Self.abc)
        #expect(first.finish() == SHA256.hash("axyz".utf8))
    }

    @Test("bytes that do not lie together are digested in their order")
    func scattered() {
        #expect(SHA256.hash(Array("cba".utf8).reversed()).hex == Self.abc)
    }

    @Test("a digest is read back from its 32 bytes, and from no other number of them")
    func readBack() {
        let digest = SHA256.hash("abc".utf8)
        #expect(SHA256Digest(bytes: digest.bytes) == digest)
        #expect(SHA256Digest(bytes: digest.bytes.dropLast()) == nil)
        #expect(SHA256Digest(bytes: digest.bytes + [0]) == nil)
        #expect(Set([digest, SHA256.hash("abc".utf8), SHA256.hash("abd".utf8)]).count == 2)
    }

    @Test("a digest is read back from its own 64 digits, and from no other text that could be taken for them")
    func readBackDigits() {
        let digest = SHA256.hash("abc".utf8)
        let digits = digest.hex
        #expect(SHA256Digest(hex: digits.utf8) == digest)
        let tail = digits.dropFirst(2)
        for text in ["", "\(tail)", "\(digits)00", "+a\(tail)", "-0\(tail)", "0x\(tail)", " a\(tail)", "g0\(tail)"] {
            #expect(SHA256Digest(hex: text.utf8) == nil)
        }
        #expect(SHA256Digest(hex: digits.uppercased().utf8) == nil)
    }
}
