import Scheduling
import Testing

@testable import Processing

@Suite("The window that failures are measured over")
struct CallCountsTests {
    @Test("adds up what ended within its length, to a tenth of it")
    func model() {
        var random = SplitMix64(seed: 7)
        var window = CallCounts(length: .seconds(10))
        var past: [(second: Int64, isFailure: Bool)] = []
        var begun: [Int64] = []
        var elapsed = Duration.zero
        for _ in 0..<200_000 {
            elapsed += .milliseconds(Int.random(in: 0...400, using: &random))
            if Int.random(in: 0..<1000, using: &random) == 0 {
                elapsed += .seconds(Int.random(in: 1...40, using: &random))
            }
            let second = elapsed.components.seconds
            past.removeAll { $0.second <= second - 10 }
            begun.removeAll { $0 <= second - 10 }
            if Bool.random(using: &random) {
                begun.append(second)
                window.begin(at: .zero + elapsed)
            }
            if Bool.random(using: &random) {
                let call = (second, Bool.random(using: &random))
                past.append(call)
                window.add(isFailure: call.1, at: .zero + elapsed)
            } else {
                window.advance(to: .zero + elapsed)
            }
            let expected = CallCounts.Count(
                calls: past.count, begun: begun.count, failures: past.count { $0.isFailure })
            guard window.total == expected else {
                #expect(window.total == expected, "at \(elapsed)")
                return
            }
        }
    }

    @Test("a call that has only begun is none that failed")
    func begun() {
        var window = CallCounts(length: .seconds(10))
        for _ in 0..<4 { window.begin(at: .zero) }
        window.add(isFailure: true, at: .zero)
        #expect(window.total.failureShare == 0.25)
        window.clear()
        window.add(isFailure: true, at: .zero)
        #expect(window.total.failureShare == 1, "those that began before it was cleared count when they end")
    }

    @Test("a call that was not made is taken back, unless it is forgotten already")
    func takenBack() {
        var window = CallCounts(length: .seconds(10))
        window.begin(at: .zero + .seconds(1))
        window.begin(at: .zero + .seconds(2))
        window.takeBack(begunAt: .zero + .seconds(1))
        #expect(window.total.begun == 1)
        window.takeBack(begunAt: .zero + .seconds(1))
        #expect(window.total.begun == 1)
        window.advance(to: .zero + .seconds(12))
        window.begin(at: .zero + .seconds(12))
        window.takeBack(begunAt: .zero + .seconds(2))
        #expect(window.total.begun == 1, "the bucket is another second's by now")
    }

    @Test("has no share of nothing")
    func empty() {
        var window = CallCounts(length: .seconds(10))
        #expect(window.total.failureShare == 0)
        window.add(isFailure: true, at: .zero + .seconds(1))
        #expect(window.total.failureShare == 1)
    }
}
