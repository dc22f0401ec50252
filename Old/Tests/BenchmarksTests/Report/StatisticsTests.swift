import Testing

@testable import grantor_bench

@Suite("What many figures come down to")
struct StatisticsTests {
    @Test("The median is the middle one, of an even number the upper")
    func median() {
        #expect(Statistics.median([5, 1, 3]) == 3)
        #expect(Statistics.median([4, 1, 3, 2]) == 3)
        #expect(Statistics.median([]) == 0)
    }

    @Test("A percentile is a value that was measured")
    func percentile() {
        let hundred = (1...100).map(Double.init).shuffled()
        #expect(Statistics.percentile(50, of: hundred) == 50)
        #expect(Statistics.percentile(99, of: hundred) == 99)
        #expect(Statistics.percentile(100, of: hundred) == 100)
        #expect(Statistics.percentile(0, of: hundred) == 1)
        #expect(Statistics.percentile(99, of: [7]) == 7)
        #expect(Statistics.percentile(99, of: []) == 0)
    }

    @Test("The slope of a line is the line's, and noise around it changes little")
    func slope() {
        let line = (0..<20).map { (x: Double($0), y: 3 + 0.5 * Double($0)) }
        #expect(abs(Statistics.slope(of: line) - 0.5) < 1e-9)
        let noisy = line.enumerated().map { (x: $1.x, y: $1.y + ($0 % 2 == 0 ? 0.1 : -0.1)) }
        #expect(abs(Statistics.slope(of: noisy) - 0.5) < 0.01)
    }

    @Test("Points that make no line have no slope")
    func noLine() {
        #expect(Statistics.slope(of: []) == 0)
        #expect(Statistics.slope(of: [(x: 1, y: 5)]) == 0)
        #expect(Statistics.slope(of: [(x: 1, y: 5), (x: 1, y: 9)]) == 0)
    }
}
