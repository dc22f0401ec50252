import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("One delivery's calls")
struct DeliveryStateTests {
    private let policy = DeliveryPolicy()

    /// A state that expectations may change.
    private final class Called {
        var state: DeliveryState

        init(attempts: Int = 0) {
            state = DeliveryState(
                Delivery(
                    bundleID: "b", grantID: "g",
                    event: Event(id: "e", kind: .granted, key: nil, headers: [], value: nil), attempts: attempts))
        }

        func step(
            _ answer: DeliveryAnswer, _ policy: DeliveryPolicy, unit: Double = 0.5, isTroubled: Bool = false
        ) -> DeliveryState.Step {
            state.received(
                answer, policy: policy, now: Timestamp(milliseconds: 5), unit: unit, isTroubled: isTroubled)
        }
    }

    @Test("ends with the first yes", arguments: [DeliveryAnswer.done, .doneBefore])
    func yes(answer: DeliveryAnswer) {
        let called = Called()
        #expect(called.step(answer, policy) == .finish)
        #expect(called.state.attempts == 1)
        #expect(called.state.history.attempts.isEmpty)
    }

    @Test("is tried a few times in memory, then goes back to the ledger with the history of it")
    func tiers() {
        let called = Called()
        let no = DeliveryAnswer.failed(.failed, status: 500)
        #expect(called.step(no, policy) == .tryAgain(after: .milliseconds(100)))
        #expect(called.step(no, policy) == .tryAgain(after: .milliseconds(200)))
        #expect(called.step(no, policy) == .giveBack(after: .seconds(1)))
        #expect(called.state.attempts == 3)
        #expect(called.state.history.attempts.map(\.detail) == Array(repeating: "HTTP 500.", count: 3))
    }

    @Test("from the ledger is tried once at a time, at intervals that double up to a quarter of an hour")
    func backsOff() {
        let ceilings = [3, 4, 5, 10, 20, 1000].map { attempts in
            Called(attempts: attempts).step(.failed(.unreachable), policy, unit: 1)
        }
        #expect(
            ceilings == [4, 8, 16, 512, 900, 900].map { .giveBack(after: .seconds($0)) })
    }

    @Test("waits at least as long as the service asks")
    func retryAfter() {
        let short = DeliveryAnswer.failed(.limited, status: 429, retryAfter: .seconds(3))
        let long = DeliveryAnswer.failed(.limited, status: 429, retryAfter: .seconds(60))
        #expect(Called().step(short, policy) == .tryAgain(after: .milliseconds(3100)))
        #expect(Called().step(long, policy) == .giveBack(after: .seconds(61)))
    }

    @Test("counts no call while the service is in trouble with all of them, and none that we gave up")
    func uncounted() {
        let called = Called(attempts: 7)
        #expect(called.step(.failed(.unreachable), policy, isTroubled: true) == .giveBack(after: .zero))
        #expect(called.step(.unknown, policy) == .giveBack(after: .zero))
        #expect(called.state.attempts == 7)
        #expect(called.state.history.attempts.isEmpty)
    }

    @Test("counts a no of the service's own even then, and waits for less than it would otherwise")
    func ownNoInTrouble() {
        let called = Called(attempts: 7)
        let no = DeliveryAnswer.failed(.failed, status: 500)
        #expect(called.step(no, policy, unit: 1, isTroubled: true) == .giveBack(after: .seconds(60)))
        #expect(called.state.attempts == 8)
        #expect(called.state.history.attempts.map(\.detail) == ["HTTP 500."])
        // The gateway's, which has no service to ask.
        #expect(called.step(.failed(.failed, status: 502), policy, isTroubled: true) == .giveBack(after: .zero))
        #expect(Called().step(no, policy, unit: 1, isTroubled: true) == .giveBack(after: .seconds(2)))
    }

    @Test("keeps a bounded history however often it is called")
    func history() {
        let called = Called()
        for _ in 0..<500 { _ = called.step(.failed(.timedOut), policy) }
        #expect(called.state.attempts == 500)
        #expect(called.state.history.attempts.count == AttemptHistory.maxFirst + AttemptHistory.maxLatest)
    }
}
