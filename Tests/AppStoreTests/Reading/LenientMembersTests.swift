import Contract
import Testing

@testable import AppStore

@Suite("Lenient JSON")
struct LenientJSONTests {
    @Test(
        "whole numbers in every spelling, saturating; nothing else",
        arguments: [
            ("7", 7), ("-7", -7), ("7.0", 7), ("7e0", 7), ("7.5", nil), ("", nil), ("seven", nil), ("nan", nil),
            ("inf", nil), ("1e999", nil), ("1e30", .max), ("-1e30", .min), ("9223372036854775808", .max),
        ] as [(String, Int?)])
    func integers(text: String, expected: Int?) {
        #expect(LenientNumber.integer(text) == expected)
    }

    @Test(
        "moments between 1970 and 9999, fractions cut off; nothing else",
        arguments: [
            ("0", 0), ("1795237142000", 1_795_237_142_000), ("1697679936049.7297", 1_697_679_936_049),
            ("1.7e12", 1_700_000_000_000), ("-1", nil), ("253402300800000", nil), ("1e300", nil), ("nan", nil),
            ("2026-11-21 04:59:02 Etc/GMT", nil),
        ] as [(String, Int64?)])
    func moments(text: String, expected: Int64?) {
        #expect(LenientNumber.moment(text) == expected)
    }

    @Test("nothing happened to a purchase before the App Store opened, and seconds are no milliseconds")
    func purchaseMoments() {
        for text in ["0", "0.0", "-1", "1795237142", "1215647999999", "soon"] {
            #expect(LenientNumber.purchaseMoment(text) == nil, "\(text)")
        }
        #expect(LenientNumber.purchaseMoment("1215648000000") == Timestamp(milliseconds: 1_215_648_000_000))
    }

    @Test(
        "flags in the four spellings; nothing else",
        arguments: [
            ("true", true), ("TRUE", true), ("1", true), ("false", false), ("0", false), ("2", nil), ("", nil),
            ("yes", nil),
        ] as [(String, Bool?)])
    func flags(text: String, expected: Bool?) {
        #expect(LenientNumber.flag(text) == expected)
    }
}

@Suite("Texts of members")
struct MemberTextsTests {
    private enum Member: Equatable, Sendable { case name, date, price }

    private func texts(_ entries: [(Member, String?)]) -> MemberTexts<Member> {
        var texts = MemberTexts<Member>()
        for (member, text) in entries { texts.add(text, for: member) }
        return texts
    }

    @Test("what stands first counts, and what says nothing does not stand")
    func first() {
        let texts = texts([(.name, nil), (.name, "first"), (.name, "second"), (.date, "")])
        #expect(texts[.name] == "first")
        #expect(texts[.date] == "")
        #expect(texts[.price] == nil)
    }

    @Test("is empty until something has a text")
    func empty() {
        #expect(texts([(.name, nil)]).isEmpty)
        #expect(!texts([(.name, "")]).isEmpty)
    }

    @Test("takes from others what it lacks")
    func completed() {
        var texts = texts([(.name, "own")])
        texts.complete(from: self.texts([(.name, "other"), (.date, "today")]))
        #expect(texts[.name] == "own")
        #expect(texts[.date] == "today")
        #expect(texts[.price] == nil)
    }
}
