import Testing

@testable import AppStore

@Suite("Remembered chains")
struct ChainCacheTests {
    private let builder = ChainBuilder()

    /// Bytes that are no certificate, different for each number.
    private func junk(_ number: Int) -> [UInt8] {
        [0x30, 0x82] + (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private func error(_ cache: ChainCache, _ leaf: [UInt8], _ intermediate: [UInt8]) -> ChainError? {
        Result { () throws(ChainError) in try cache.chain(leaf: leaf[...], intermediate: intermediate[...]) }.error
    }

    @Test("a chain is verified once, whether or not it holds")
    func once() throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        for _ in 0..<10 {
            #expect(error(cache, leaf, intermediate) == nil)
            #expect(error(cache, leaf, junk(0)) == .unreadable)
        }
        #expect(cache.statistics == ChainCache.Statistics(hits: 18, misses: 2))
        #expect(cache.counts == (1, 1))
    }

    @Test("what is remembered is the same chain")
    func same() throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        let first = try cache.chain(leaf: leaf[...], intermediate: intermediate[...])
        let second = try cache.chain(leaf: leaf[...], intermediate: intermediate[...])
        #expect(first.key == second.key)
        #expect(first.validity == second.validity)
    }

    @Test("where one certificate ends and the next begins is part of what is remembered")
    func boundaries() throws {
        let cache = ChainCache(roots: try builder.roots())
        let both = try builder.leafDER() + builder.intermediateDER()
        _ = error(cache, Array(both[..<100]), Array(both[100...]))
        _ = error(cache, Array(both[..<101]), Array(both[101...]))
        #expect(cache.statistics.misses == 2)
    }

    @Test("100,000 chains that do not hold take bounded room, and the good one stays")
    func floodOfBad() throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        #expect(error(cache, leaf, intermediate) == nil)
        for number in 0..<100_000 { _ = error(cache, junk(number), []) }
        #expect(cache.counts == (1, ChainCache.maxBad))
        let misses = cache.statistics.misses
        #expect(misses == 100_001)
        // The last ones are remembered, and so is the good one.
        #expect(error(cache, junk(99_999), []) == .unreadable)
        #expect(error(cache, junk(100_000 - ChainCache.maxBad), []) == .unreadable)
        #expect(error(cache, leaf, intermediate) == nil)
        #expect(cache.statistics.misses == misses)
    }

    @Test("more chains that hold than there is room for: the one in use stays")
    func floodOfGood() throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        for _ in 0..<2 { #expect(error(cache, leaf, intermediate) == nil) }
        for _ in 0..<(ChainCache.maxGood * 2) { #expect(error(cache, try builder.leafDER(), intermediate) == nil) }
        #expect(cache.counts == (ChainCache.maxGood, 0))
        let misses = cache.statistics.misses
        #expect(error(cache, leaf, intermediate) == nil)
        #expect(cache.statistics.misses == misses)
    }

    @Test("too large certificates are not even hashed")
    func tooLarge() throws {
        let cache = ChainCache(roots: try builder.roots())
        let large = [UInt8](repeating: 0, count: ChainVerifier.maxCertificateBytes + 1)
        #expect(error(cache, large, try builder.intermediateDER()) == .tooLarge)
        #expect(error(cache, try builder.leafDER(), large) == .tooLarge)
        #expect(cache.statistics.misses == 0)
    }

    @Test("many tasks at once get what one would")
    func concurrent() async throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).allSatisfy { number in
                        error(cache, leaf, intermediate) == nil
                            && error(cache, junk(task * 500 + number), intermediate) == .unreadable
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(cache.counts == (1, ChainCache.maxBad))
        #expect(cache.statistics.hits + cache.statistics.misses == 8_000)
        // Those that came while the first verification ran did their own.
        #expect((4_001...4_008).contains(cache.statistics.misses))
    }
}
