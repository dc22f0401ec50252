import Testing

@testable import Ledger

@Suite struct PostgresTextTests {
    @Test(arguments: [
        "", "alice", "caf\u{e9}", "a\u{0}b", "\u{0}", "\u{1a}", "\u{1a}0", "\u{1a}\u{0}\u{1a}", "\u{1F600}",
    ])
    func textsComeBackAsTheyWent(text: String) {
        var bytes: [UInt8] = []
        PostgresText.append(text, to: &bytes)
        #expect(!bytes.contains(0))
        #expect(Array(PostgresText.decode(bytes).utf8) == Array(text.utf8))
    }

    @Test func differentTextsStayDifferent() {
        let texts = ["\u{0}", "\u{1a}", "\u{1a}0", "\u{1a}\u{1a}", "0", "\u{0}0", "\u{1a}\u{0}"]
        let stored = texts.map { text in
            var bytes: [UInt8] = []
            PostgresText.append(text, to: &bytes)
            return bytes
        }
        #expect(Set(stored).count == texts.count)
    }

    @Test func ordinaryTextsAreStoredAsTheyAre() {
        var bytes: [UInt8] = []
        PostgresText.append("user-1", to: &bytes)
        #expect(bytes == Array("user-1".utf8))
    }
}
