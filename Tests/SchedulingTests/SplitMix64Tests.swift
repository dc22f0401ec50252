import Scheduling
import Testing

struct SplitMix64Tests {
    /// The sequence that the reference implementation (Vigna, prng.di.unimi.it/splitmix64.c) gives for seed 1234567.
    @Test func `the sequence is that of the reference implementation`() {
        var generator = SplitMix64(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        #expect(expected.map { _ in generator.next() } == expected)
    }

    @Test func `neighbouring seeds share no outputs`() {
        var outputs: Set<UInt64> = []
        for seed in 0..<100 as Range<UInt64> {
            var generator = SplitMix64(seed: seed)
            for _ in 0..<100 { outputs.insert(generator.next()) }
        }
        #expect(outputs.count == 10_000)
    }
}
