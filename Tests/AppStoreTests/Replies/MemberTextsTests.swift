import Testing

@testable import AppStore

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

    @Test("takes from others what it lacks and may take")
    func completed() {
        var texts = texts([(.name, "own")])
        texts.complete(from: self.texts([(.name, "other"), (.date, "today"), (.price, "1")])) { $0 != .price }
        #expect(texts[.name] == "own")
        #expect(texts[.date] == "today")
        #expect(texts[.price] == nil)
    }
}
