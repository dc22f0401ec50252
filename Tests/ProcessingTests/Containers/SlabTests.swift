import Testing

@testable import Processing

@Suite("A slab")
final class SlabTests {
    private enum Kind {}
    private var slab = Slab<String, Kind>(vacant: "", capacity: 4)

    @Test("gives each element a token that ends with it")
    func tokens() {
        let first = slab.insert("a")
        let second = slab.insert("b")
        slab.remove(first)
        #expect(!slab.contains(first))
        #expect(slab[second] == "b")
        #expect(slab.count == 1)
    }

    @Test("uses a slot again under another token")
    func reuse() {
        let first = slab.insert("a")
        slab.remove(first)
        let second = slab.insert("b")
        #expect(second.slot == first.slot)
        #expect(!slab.contains(first))
        slab.remove(first)
        #expect(slab.contains(second), "a stale token removes nothing")
    }

    @Test("lists its tokens in the order of their slots, and knows tokens of nobody")
    func all() {
        let tokens = ["a", "b", "c"].map { slab.insert($0) }
        slab.remove(tokens[1])
        #expect(slab.tokens == [tokens[0], tokens[2]])
        #expect(!slab.contains(Token(slot: -1, use: 0)))
        #expect(!slab.contains(Token(slot: 9, use: 1)))
    }
}
