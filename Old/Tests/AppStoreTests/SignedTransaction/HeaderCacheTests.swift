import Crypto
import Purchases
import Testing

@testable import AppStore

@Suite("Remembered headers")
struct HeaderCacheTests {
    private func key() -> SigningKey {
        SigningKey(
            key: P256.Signing.PrivateKey().publicKey, validity: ChainBuilder.start...ChainBuilder.end,
            trust: TableTrust())
    }

    private func header(_ number: Int) -> ArraySlice<UInt8> { Array("header-\(number)".utf8)[...] }

    @Test("a header is known by all of its bytes")
    func known() {
        let cache = HeaderCache()
        let key = key()
        cache.remember(header(1), key)
        cache.remember(header(2), self.key())
        #expect(cache.key(of: header(1)) === key)
        #expect(cache.key(of: header(3)) == nil)
        #expect(cache.key(of: header(1).dropLast()) == nil)
        #expect(cache.hits == 1)
    }

    @Test("there is room for a few; the oldest gives way, and one that is known takes no second place")
    func bound() {
        let cache = HeaderCache()
        let key = key()
        for number in 0...HeaderCache.maxCount {
            cache.remember(header(number), key)
            cache.remember(header(number), key)
        }
        #expect(cache.count == HeaderCache.maxCount)
        #expect(cache.key(of: header(0)) == nil)
        #expect(cache.key(of: header(1)) != nil)
        #expect(cache.key(of: header(HeaderCache.maxCount)) != nil)
    }
}
