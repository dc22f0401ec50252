import Cryptography
import Testing

@testable import AppStore

@Suite("Remembered headers")
struct JWSHeaderCacheTests {
    private let signer = ChainBuilder().signingKey.publicKey

    private func key() -> SigningKey {
        SigningKey(key: signer, validity: ChainBuilder.start...ChainBuilder.end, header: header(0))
    }

    private func header(_ number: Int) -> ArraySlice<UInt8> { Array("header-\(number)".utf8)[...] }

    @Test("a header is known by all of its bytes")
    func known() {
        let cache = JWSHeaderCache()
        let key = key()
        cache.remember(header(1), key)
        cache.remember(header(2), self.key())
        #expect(cache.key(of: header(1)) === key)
        #expect(cache.key(of: header(3)) == nil)
        #expect(cache.key(of: header(1).dropLast()) == nil)
        #expect(cache.hits == 1)
    }

    @Test("a byte that differs, anywhere, makes another header", arguments: [1, 7, 8, 9, 15, 16, 17, 31])
    func everyByte(count: Int) {
        let cache = JWSHeaderCache()
        let header = [UInt8](repeating: 65, count: count)
        cache.remember(header[...], key())
        // A part of a longer text, which begins elsewhere.
        #expect(cache.key(of: ([46] + header + [46])[1...count]) != nil)
        for index in header.indices {
            var other = header
            other[index] ^= 1
            #expect(cache.key(of: other[...]) == nil)
        }
        #expect(cache.key(of: (header + [65])[...]) == nil)
    }

    @Test("there is room for a few; the oldest gives way, and one that is known takes no second place")
    func bound() {
        let cache = JWSHeaderCache()
        let key = key()
        for number in 0...JWSHeaderCache.maxCount {
            cache.remember(header(number), key)
            cache.remember(header(number), key)
        }
        #expect(cache.count == JWSHeaderCache.maxCount)
        #expect(cache.key(of: header(0)) == nil)
        #expect(cache.key(of: header(1)) != nil)
        #expect(cache.key(of: header(JWSHeaderCache.maxCount)) != nil)
    }
}
