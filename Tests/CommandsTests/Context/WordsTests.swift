import Testing

@testable import Commands

@Suite("Numbers for people")
struct WordsTests {
    @Test("One thing has another word than none or many")
    func counts() {
        #expect([0, 1, 2].map { $0.of("event", "events") } == ["0 events", "1 event", "2 events"])
    }

    @Test("A duration is told in its largest unit of which there are two, rounded down")
    func durations() {
        let seconds = [0, 119, 120, 7_199, 7_200, 172_799, 172_800, 1_000_000]
        let words = ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days", "11 days"]
        #expect(seconds.map { Duration.seconds($0).rough } == words)
    }
}
