import Purchases
import Testing

@testable import AppStoreSimulator

struct CivilTimeTests {
    @Test func aMomentHasAppleSpellings() {
        let time = CivilTime(Timestamp(milliseconds: 1_571_148_101_000))
        #expect(time.rfc3339 == "2019-10-15T14:01:41Z")
        #expect(time.gmt == "2019-10-15 14:01:41 Etc/GMT")
        #expect(time.pst == "2019-10-15 07:01:41 America/Los_Angeles")
        #expect(time.milliseconds == "1571148101000")
    }

    @Test func cupertinoHasWinterToo() {
        #expect(CivilTime(now).pst == "2026-11-20 20:59:13 America/Los_Angeles")
    }

    @Test(arguments: [
        "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2000-02-29T12:00:00Z", "2100-03-01T00:00:00Z",
        "2024-12-31T23:59:59Z", "4001-01-01T00:00:00Z",
    ])
    func textsAndMomentsAreTheSame(text: String) throws {
        let time = try #require(CivilTime(rfc3339: Array(text.utf8)[...]))
        #expect(time.rfc3339 == text)
        #expect(try time.timestamp == moment(text))
    }

    @Test(arguments: [
        "", "2019-10-15", "2019-10-15T14:01:41", "2019-10-15T14:01:41.5Z", "2019-13-15T14:01:41Z",
        "2019-10-15T24:01:41Z", "2019-10-15 14:01:41Z", "20x9-10-15T14:01:41Z",
    ])
    func otherTextsAreRefused(text: String) {
        #expect(CivilTime(rfc3339: Array(text.utf8)[...]) == nil)
    }
}
