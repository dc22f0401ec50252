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

@Suite("A queue")
struct FIFOTests {
    @Test("gives its elements in the order in which they came, however many have left")
    func order() {
        var queue = FIFO<Int>()
        var next = 0
        for number in 0..<1000 {
            queue.append(number)
            if number % 3 != 0 {
                #expect(queue.popFirst() == next)
                next += 1
            }
        }
        #expect(queue.count == 1000 - next)
        #expect(queue[0] == next)
        while let number = queue.popFirst() {
            #expect(number == next)
            next += 1
        }
        #expect(next == 1000)
        #expect(queue.first == nil)
    }
}
