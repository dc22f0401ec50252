import Scheduling
import Testing

@testable import AppStoreSimulator

struct LatencyTests {
    @Test("Fixed latencies are fixed and never negative")
    func fixed() {
        #expect(Set(draw(.none)) == [0])
        #expect(Set(draw(.fixed(milliseconds: 250))) == [250])
        #expect(Set(draw(.fixed(milliseconds: -1))) == [0])
    }

    @Test("Uniform latencies fill their range")
    func uniform() {
        let drawn = draw(.uniform(from: 10, through: 19))
        #expect(Set(drawn) == Set(10...19))
        #expect(Set(draw(.uniform(from: 9, through: 1))) == [9])
    }

    @Test("Lognormal latencies have their median and tail")
    func lognormal() {
        let drawn = draw(.lognormal(median: 250, p99: 2000, limit: 20_000)).sorted()
        #expect(abs(drawn[drawn.count / 2] - 250) < 15)
        #expect(abs(drawn[drawn.count * 99 / 100] - 2000) < 400)
        #expect(draw(.lognormal(median: 250, p99: 2000, limit: 300)).max() == 300)
        #expect(Set(draw(.lognormal(median: 0, p99: 0, limit: 0))) == [0])
    }

    @Test("A seed gives the same latencies")
    func seed() {
        #expect(draw(.uniform(from: 0, through: 9)) == draw(.uniform(from: 0, through: 9)))
    }

    private func draw(_ latency: Latency) -> [Int] {
        var generator = SplitMix64(seed: 42)
        return (0..<10_000).map { _ in latency.milliseconds(using: &generator) }
    }
}
