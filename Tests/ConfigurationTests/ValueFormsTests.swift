import Testing

@testable import Configuration

@Suite("Durations and sizes as text")
struct DurationTextTests {
    @Test(
        "Durations are read with their units",
        arguments: [
            ("24h", Duration.seconds(86_400)), ("15m", .seconds(900)), ("90s", .seconds(90)),
            ("500ms", .milliseconds(500)), ("7d", .seconds(604_800)), ("0s", .zero),
        ])
    func durations(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        "No other text is a duration",
        arguments: ["", "90", "h", "-1s", "+1s", "1.5h", "1 h", "1h30m", "1w", "9223372036854775807d", "٣s", "1S"])
    func noDurations(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test("A duration is written as it is read", arguments: ["1d", "6h", "15m", "90s", "1500ms", "0s"])
    func durationsRoundTrip(text: String) throws {
        #expect(DurationText.format(try #require(DurationText.parse(text))) == text)
    }

    @Test(
        "Sizes are read with their units",
        arguments: [("0B", 0), ("1B", 1), ("18KiB", 18_432), ("8MiB", 8 << 20), ("4GiB", 4 << 30)])
    func sizes(text: String, bytes: Int) {
        #expect(ByteCountText.parse(text) == bytes)
        #expect(ByteCountText.format(bytes) == text)
    }

    @Test(
        "No other text is a size",
        arguments: ["", "1024", "B", "1KB", "1kib", "1 MiB", "-1B", "1.5GiB", "8589934592GiB"])
    func noSizes(text: String) {
        #expect(ByteCountText.parse(text) == nil)
    }
}
