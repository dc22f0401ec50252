import Scheduling
import Testing

struct DelayQueueTests {
    @Test("Elements leave when they are due, the earliest first")
    func order() {
        var queue = DelayQueue<String>()
        queue.insert("late", due: Instant(nanoseconds: 30))
        queue.insert("early", due: Instant(nanoseconds: 10))
        queue.insert("middle", due: Instant(nanoseconds: 20))
        #expect(queue.nextDue == Instant(nanoseconds: 10))
        #expect(queue.popDue(at: Instant(nanoseconds: 9)) == nil)
        #expect(queue.popDue(at: Instant(nanoseconds: 25)) == "early")
        #expect(queue.popDue(at: Instant(nanoseconds: 25)) == "middle")
        #expect(queue.popDue(at: Instant(nanoseconds: 25)) == nil)
        #expect(queue.popDue(at: Instant(nanoseconds: 30)) == "late")
        #expect(queue.nextDue == nil)
    }

    @Test("Elements due at one instant leave in the order of their coming")
    func ties() {
        var queue = DelayQueue<Int>()
        for number in 0..<1000 { queue.insert(number, due: Instant(nanoseconds: Int64(number % 3))) }
        let expected = (0..<1000).sorted { ($0 % 3, $0) < ($1 % 3, $1) }
        #expect(Self.drain(&queue, at: .distantFuture) == expected)
    }

    /// The queue does what a sorted array does, for any mixture of operations.
    @Test("The queue agrees with a sorted array", arguments: 0..<20 as Range<UInt64>)
    func model(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var queue = DelayQueue<Int>()
        var model: [(due: Instant, number: Int)] = []
        var now = Instant(nanoseconds: 0)
        for number in 0..<5000 {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<55:
                let due = now + .nanoseconds(Int64.random(in: -5...50, using: &generator))
                queue.insert(number, due: due)
                let place = model.firstIndex { $0.due > due } ?? model.endIndex
                model.insert((due, number), at: place)
            default:
                now += .nanoseconds(Int64.random(in: 0...3, using: &generator))
                let expected = model.first.flatMap { $0.due <= now ? $0.number : nil }
                if expected != nil { model.removeFirst() }
                #expect(queue.popDue(at: now) == expected)
            }
            #expect(queue.nextDue == model.first?.due)
        }
        #expect(Self.drain(&queue, at: .distantFuture) == model.map(\.number))
    }

    @Test("A removed element is freed")
    func freed() {
        final class Element {}
        var queue = DelayQueue<Element>()
        weak var weakElement: Element?
        do {
            let element = Element()
            weakElement = element
            queue.insert(element, due: Instant(nanoseconds: 1))
            queue.insert(Element(), due: Instant(nanoseconds: 2))
        }
        #expect(weakElement != nil)
        _ = queue.popDue(at: .distantFuture)
        #expect(weakElement == nil)
    }

    private static func drain(_ queue: inout DelayQueue<Int>, at now: Instant) -> [Int] {
        var elements: [Int] = []
        while let element = queue.popDue(at: now) { elements.append(element) }
        return elements
    }
}
