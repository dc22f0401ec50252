import Scheduling
import Testing

struct BackoffTests {
    @Test("The ceiling doubles up to the cap")
    func ceiling() {
        let backoff = Backoff(base: .milliseconds(200), cap: .seconds(30))
        let expected = [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]
        for (index, milliseconds) in expected.enumerated() {
            #expect(backoff.ceiling(afterFailures: index + 1) == .milliseconds(milliseconds))
        }
        #expect(backoff.ceiling(afterFailures: .max) == .seconds(30))
        #expect(backoff.ceiling(afterFailures: 0) == .milliseconds(200))
        #expect(backoff.ceiling(afterFailures: .min) == .milliseconds(200))
    }

    @Test(
        "A delay stays between its floor and its ceiling, whatever the number of failures",
        arguments: [Backoff.Jitter.full, .equal], 0..<10 as Range<UInt64>)
    func bounds(
        jitter: Backoff.Jitter, seed: UInt64
    ) {
        var generator = SplitMix64(seed: seed)
        let backoff = Backoff(base: .milliseconds(200), cap: .seconds(30), jitter: jitter)
        for _ in 0..<2000 {
            let failures = Bool.random(using: &generator) ? Int.random(in: -3...12, using: &generator) : Int.max
            let delay = backoff.delay(afterFailures: failures, using: &generator)
            let ceiling = backoff.ceiling(afterFailures: failures)
            #expect(delay <= ceiling)
            #expect(delay >= (jitter == .full ? .zero : ceiling / 2))
        }
    }

    @Test("Delays use their whole range, so that a crowd spreads", arguments: [Backoff.Jitter.full, .equal])
    func spread(jitter: Backoff.Jitter) {
        var generator = SplitMix64(seed: 1)
        let backoff = Backoff(base: .seconds(1), cap: .seconds(8), jitter: jitter)
        let delays = (0..<1000).map { _ in backoff.delay(afterFailures: 4, using: &generator) }
        let floor: Duration = jitter == .full ? .zero : .seconds(4)
        let tenth = (Duration.seconds(8) - floor) / 10
        for step in 0..<10 {
            let range = (floor + tenth * step)..<(floor + tenth * (step + 1))
            #expect(delays.count { range.contains($0) } > 50)
        }
    }

    @Test("One seed gives one sequence of delays")
    func seed() {
        var first = SplitMix64(seed: 9)
        var second = SplitMix64(seed: 9)
        let backoff = Backoff(base: .seconds(1), cap: .seconds(60))
        for failures in 1...20 {
            #expect(
                backoff.delay(afterFailures: failures, using: &first)
                    == backoff.delay(afterFailures: failures, using: &second))
        }
    }

    @Test("A backoff of nothing, or of less, waits for nothing")
    func nothing() {
        var generator = SplitMix64(seed: 0)
        for backoff in [Backoff(base: .zero, cap: .zero), Backoff(base: .seconds(-1), cap: .seconds(-1))] {
            #expect(backoff.delay(afterFailures: 5, using: &generator) == .zero)
        }
        let endless = Backoff(base: .seconds(Int64.max), cap: .seconds(Int64.max), jitter: .equal)
        #expect(endless.delay(afterFailures: 70, using: &generator) >= .nanoseconds(Int64.max / 2))
    }
}

struct SplitMix64Tests {
    /// The sequence that the reference implementation (Vigna, prng.di.unimi.it/splitmix64.c) gives for seed 1234567.
    @Test("The sequence is that of the reference implementation")
    func reference() {
        var generator = SplitMix64(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        #expect(expected.map { _ in generator.next() } == expected)
    }

    @Test("Neighbouring seeds share no outputs")
    func neighbours() {
        var outputs: Set<UInt64> = []
        for seed in 0..<100 as Range<UInt64> {
            var generator = SplitMix64(seed: seed)
            for _ in 0..<100 { outputs.insert(generator.next()) }
        }
        #expect(outputs.count == 10_000)
    }
}
