import Synchronization
import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(5)))
struct BoundedWaitTests {
    @Test("An answer ends the wait, and a second one does no harm")
    func answered() async {
        let begun = Atomic(false)
        await BoundedWait.run(limit: .seconds(3600)) { answer in
            begun.store(true, ordering: .relaxed)
            answer()
            answer()
        }
        let wasBegun = begun.load(ordering: .relaxed)
        #expect(wasBegun)
    }

    @Test("Without an answer the limit ends it; one that comes later does no harm")
    func unanswered() async {
        let late = Mutex<(@Sendable () -> Void)?>(nil)
        await BoundedWait.run(limit: .zero) { answer in late.withLock { $0 = answer } }
        let answer = late.withLock { $0 }
        #expect(answer != nil)
        answer?()
    }
}
