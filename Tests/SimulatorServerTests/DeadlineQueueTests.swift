import Scheduling
import Testing

@testable import SimulatorServer

struct DeadlineQueueTests {
    @Test("A number has one deadline, which moves")
    func moves() {
        var queue = DeadlineQueue()
        queue.set(3, due: Instant(nanoseconds: 10))
        queue.set(3, due: Instant(nanoseconds: 30))
        queue.set(1, due: Instant(nanoseconds: 20))
        #expect(queue.count == 2)
        #expect(queue.popDue(at: Instant(nanoseconds: 15)) == nil)
        #expect(queue.popDue(at: Instant(nanoseconds: 40)) == 1)
        #expect(queue.popDue(at: Instant(nanoseconds: 40)) == 3)
        #expect(queue.popDue(at: .distantFuture) == nil)
    }

    @Test("A removed number is not due")
    func removed() {
        var queue = DeadlineQueue()
        queue.set(0, due: Instant(nanoseconds: 1))
        queue.remove(0)
        queue.remove(0)
        queue.remove(7)
        #expect(queue.nextDue == nil)
        #expect(queue.popDue(at: .distantFuture) == nil)
    }

    @Test("The queue agrees with a dictionary", arguments: 0..<20 as Range<UInt64>)
    func model(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var queue = DeadlineQueue()
        var model: [Int: Instant] = [:]
        func first() -> (key: Int, value: Instant)? { model.min { ($0.value, $0.key) < ($1.value, $1.key) } }
        var now = Instant(nanoseconds: 0)
        for _ in 0..<2000 {
            let number = Int.random(in: 0..<40, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                let due = now + .nanoseconds(Int64.random(in: -5...40, using: &generator))
                queue.set(number, due: due)
                model[number] = due
            case 2:
                queue.remove(number)
                model[number] = nil
            default:
                now += .nanoseconds(Int64.random(in: 0...5, using: &generator))
                let expected = first().flatMap { $0.value <= now ? $0.key : nil }
                #expect(queue.popDue(at: now) == expected)
                if let expected { model[expected] = nil }
            }
            #expect(queue.count == model.count)
            #expect(queue.nextDue == first()?.value)
        }
    }
}
