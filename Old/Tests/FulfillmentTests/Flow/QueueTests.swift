import Testing

@testable import Fulfillment

@Suite("Queue")
struct QueueTests {
    @Test("does what an array does that is shifted at every step")
    func model() {
        var random = SeededGenerator(seed: 5)
        var queue = Queue<Int>()
        var expected: [Int] = []
        for number in 0..<60_000 {
            // Longer waves than the slack, so that places are given up and used again.
            let grows = number / 5000 % 2 == 0
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<(grows ? 7 : 3):
                queue.append(number)
                expected.append(number)
            case 9 where !expected.isEmpty:
                let element = expected.remove(at: Int.random(in: 0..<expected.count, using: &random))
                guard queue.remove(element) else { return #expect(Bool(false), "\(element) is not found") }
            default:
                let element = queue.popFirst()
                let first = expected.isEmpty ? nil : expected.removeFirst()
                guard element == first else { return #expect(element == first) }
            }
        }
        #expect(queue.count == expected.count)
        #expect(Array(queue) == expected)
        let isFound = queue.remove(-1)
        #expect(!isFound)
    }
}
