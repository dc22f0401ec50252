import Contract
import Testing

@testable import AppStoreSimulator

struct AppleDatesTests {
    @Test("A moment has Apple's spellings")
    func spellings() {
        let time = AppleDates(Timestamp(milliseconds: 1_571_148_101_000))
        #expect(time.rfc3339 == "2019-10-15T14:01:41Z")
        #expect(time.gmt == "2019-10-15 14:01:41 Etc/GMT")
        #expect(time.pst == "2019-10-15 07:01:41 America/Los_Angeles")
        #expect(time.milliseconds == "1571148101000")
    }

    @Test("Cupertino has winter, too")
    func winter() {
        #expect(AppleDates(now).pst == "2026-11-20 20:59:13 America/Los_Angeles")
    }

    @Test(
        "Clocks change on Sundays",
        arguments: [
            ("2026-03-08T09:59:59Z", "01:59:59"), ("2026-03-08T10:00:00Z", "03:00:00"),
            ("2026-11-01T08:59:59Z", "01:59:59"), ("2026-11-01T09:00:00Z", "01:00:00"),
            ("2020-03-08T10:00:00Z", "03:00:00"), ("2015-11-01T09:00:00Z", "01:00:00"),
        ])
    func clockChanges(gmt: String, cupertino: String) throws {
        let pst = AppleDates(try moment(gmt)).pst
        #expect(pst.hasSuffix(" \(cupertino) America/Los_Angeles"))
    }

    @Test(
        "Texts and moments are the same",
        arguments: ["1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2000-02-29T12:00:00Z", "4001-01-01T00:00:00Z"])
    func roundTrip(text: String) throws {
        #expect(AppleDates(try moment(text)).rfc3339 == text)
    }
}
