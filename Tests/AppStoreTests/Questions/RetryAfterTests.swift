import Contract
import Testing

@testable import AppStore

@Suite("Retry-After")
struct RetryAfterTests {
    /// 2026-11-21T05:00:00Z.
    let now = Fixture.now

    @Test(
        "takes seconds, dates, UNIX seconds and UNIX milliseconds, within fifteen minutes from now",
        arguments: [
            ("0", 0), ("120", 120), (" 7", 7), ("900", 900), ("901", 900), ("999999999", 900), ("-5", 0),
            ("1795237260", 60), ("1795237260000", 60), ("1795237100000", 0), ("9223372036854775807", 900),
            ("Sat, 21 Nov 2026 05:01:00 GMT", 60), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
            ("Sat, 21 Nov 2099 05:01:00 GMT", 900),
        ])
    func forms(header: String, seconds: Int64) {
        #expect(RetryAfter.moment(header, now: now) == Timestamp(milliseconds: now.milliseconds + seconds * 1000))
    }

    @Test(
        "ignores anything else",
        arguments: [
            nil, "", " ", "soon", "1.5", "99999999999999999999", "Sat, 21 Foo 2026 05:01:00 GMT", "Sat, 21 Nov 2026",
        ])
    func garbage(header: String?) {
        #expect(RetryAfter.moment(header, now: now) == nil)
    }
}
