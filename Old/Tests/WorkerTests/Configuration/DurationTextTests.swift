import Testing

@testable import Worker

@Suite("Durations as text")
struct DurationTextTests {
    @Test(
        "Units and bare seconds are read",
        arguments: [
            ("24h", Duration.seconds(86_400)), ("15m", .seconds(900)), ("90s", .seconds(90)), ("90", .seconds(90)),
            ("500ms", .milliseconds(500)), ("7d", .seconds(604_800)), ("0s", .zero),
        ])
    func reads(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        "Anything else is not", arguments: ["", "h", "-1s", "1.5h", "1 h", "1h30m", "1w", "9223372036854775807d", "٣s"])
    func refuses(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test("What is written is read as the same", arguments: ["1d", "6h", "15m", "90s", "1500ms", "0s"])
    func roundTrip(text: String) throws {
        #expect(DurationText.format(try #require(DurationText.parse(text))) == text)
    }
}
