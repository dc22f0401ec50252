import Testing

@testable import AppStoreSimulator

struct SplitMix64Tests {
    @Test func itGivesThePublishedSequence() {
        var generator = SplitMix64(seed: 1_234_567)
        #expect(generator.next() == 6_457_827_717_110_365_317)
        #expect(generator.next() == 3_203_168_211_198_807_973)
    }
}
