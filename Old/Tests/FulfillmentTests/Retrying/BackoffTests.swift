import Testing

@testable import Fulfillment

@Suite("Backoff")
struct BackoffTests {
    @Test("stays between zero and its ceiling, whatever the number of failures", arguments: 0..<10)
    func bounds(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let backoff = Backoff(base: .milliseconds(200), cap: .seconds(30))
        for _ in 0..<5_000 {
            let failures = Int.random(in: -3...Int(Int32.max), using: &generator)
            let delay = backoff.delay(afterFailures: failures, unit: Double.random(in: 0..<1, using: &generator))
            #expect(delay >= .zero && delay < .seconds(30))
        }
    }

    @Test("uses the whole interval, so that a crowd spreads")
    func spread() {
        let backoff = Backoff(base: .seconds(1), cap: .seconds(8))
        #expect(backoff.delay(afterFailures: 3, unit: 0) == .zero)
        #expect(backoff.delay(afterFailures: 3, unit: 0.5) == .seconds(2))
        #expect(backoff.delay(afterFailures: 9, unit: 0.5) == .seconds(4))
    }
}
