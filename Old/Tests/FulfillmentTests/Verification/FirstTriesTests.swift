import Testing

@testable import Fulfillment

@Suite("First tries, which no task waits for")
struct FirstTriesTests {
    private let bench: VerifierBench

    init() throws { bench = try VerifierBench() }

    private func unsettled(_ seconds: Int) -> FirstTries.Unsettled {
        FirstTries.Unsettled(
            claim: bench.admitted.withoutEvidence, opened: bench.opened, state: RetryState(), delay: .seconds(seconds))
    }

    @Test("what they did not settle is handed on, until the last of them and of those who begin some has ended")
    func handedOn() async {
        let tries = FirstTries(openers: 1)
        for _ in 0..<3 { tries.begin() }
        tries.end()
        for seconds in [1, 2] {
            tries.put(unsettled(seconds))
            tries.end()
        }
        #expect(await tries.takeUnsettled()?.map(\.delay) == [.seconds(1), .seconds(2)])
        tries.put(unsettled(3))
        tries.end()
        #expect(await tries.takeUnsettled()?.map(\.delay) == [.seconds(3)])
        #expect(await tries.takeUnsettled() == nil)
    }

    @Test("while one goes on there may be more to come, and a cancelled task does not wait for it")
    func goingOn() async {
        let tries = FirstTries(openers: 1)
        tries.begin()
        tries.end()
        let taker = Task { await tries.takeUnsettled() == nil }
        taker.cancel()
        #expect(await taker.value)
        tries.put(unsettled(1))
        #expect(await tries.takeUnsettled()?.count == 1)
    }
}
