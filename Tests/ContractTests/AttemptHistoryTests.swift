import Contract
import Testing

@Suite struct AttemptHistoryTests {
    @Test("The first attempts and the latest are kept, in order")
    func bounded() {
        var history = AttemptHistory()
        for number in 0..<200 {
            history.add(Attempt(at: Timestamp(milliseconds: Int64(number)), cause: "unreachable", detail: ""))
        }
        let kept = history.attempts.map(\.at.milliseconds)
        #expect(kept == Array(0..<Int64(AttemptHistory.maxFirst)) + Array(160..<200))
    }
}
