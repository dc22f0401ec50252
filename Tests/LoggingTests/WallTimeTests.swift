import Testing

@testable import Logging

struct WallTimeTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1_700_000_000_250, "2023-11-14T22:13:20.250Z"),
        (951_782_400_007, "2000-02-29T00:00:00.007Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func `a moment is spelt as RFC 3339 has it`(milliseconds: Int, text: String) {
        #expect(WallTime(milliseconds: milliseconds).rfc3339 == text)
    }

    @Test func `the clock is that of this century`() {
        #expect(WallTime.now.milliseconds > 1_700_000_000_000)
        #expect(WallTime.now.rfc3339.hasPrefix("20"))
    }
}
