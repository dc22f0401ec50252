import Testing

@testable import grantor_bench

@Suite("Submissions at a pace")
struct PacingTests {
    @Test("Each is due once, at its time")
    func pace() {
        var pacing = Pacing(perSecond: 100, total: 1000)
        let ranges = [0, 5, 10, 10, 35].map { pacing.due(after: .milliseconds($0)) }
        #expect(ranges == [0..<1, 1..<1, 1..<2, 2..<2, 2..<4])
    }

    @Test("Whoever asks late gets all that is due, and the pace stays")
    func late() {
        var pacing = Pacing(perSecond: 1000, total: 100_000)
        let ranges = [0, 2000, 2001].map { pacing.due(after: .milliseconds($0)) }
        #expect(ranges == [0..<1, 1..<2001, 2001..<2002])
    }

    @Test("It ends with the last one")
    func end() {
        var pacing = Pacing(perSecond: 10, total: 3)
        let first = pacing.due(after: .milliseconds(150))
        #expect(first == 0..<2)
        #expect(!pacing.isOver)
        let rest = pacing.due(after: .seconds(60))
        #expect(rest == 2..<3)
        #expect(pacing.isOver)
        let nothing = pacing.due(after: .seconds(61))
        #expect(nothing.isEmpty)
    }
}
