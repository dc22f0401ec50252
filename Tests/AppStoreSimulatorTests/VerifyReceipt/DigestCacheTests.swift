import Cryptography
import Testing

@testable import AppStoreSimulator

struct DigestCacheTests {
    @Test("The oldest is forgotten first")
    func oldest() {
        let digests = (0..<4).map { SHA256.hash([UInt8($0)]) }
        var cache = DigestCache(limit: 2)
        cache.insert(digests[0])
        cache.insert(digests[0])
        cache.insert(digests[1])
        #expect(digests.map { cache.contains($0) } == [true, true, false, false])
        cache.insert(digests[2])
        #expect(digests.map { cache.contains($0) } == [false, true, true, false])
        cache.insert(digests[3])
        #expect(digests.map { cache.contains($0) } == [false, false, true, true])
    }
}
