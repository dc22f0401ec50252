import CommandParser
import Testing

@Suite("Printable texts")
struct PrintableTextTests {
    @Test("Control and format characters and line breaks are replaced, nothing else is")
    func singleLine() {
        #expect(PrintableText.singleLine("a\nb\u{1B}[2J\u{2028}c\u{200B}") == "a\u{FFFD}b\u{FFFD}[2J\u{FFFD}c\u{FFFD}")
        #expect(PrintableText.singleLine("é 字 😀") == "é 字 😀")
    }

    @Test("A text that is cut shows it")
    func cut() {
        #expect(PrintableText.cut("gems", to: 4) == "gems")
        #expect(PrintableText.cut("gems", to: 3) == "ge…")
        #expect(PrintableText.cut("gems", to: 0) == "…")
        #expect(PrintableText.cut("一二三", to: 5) == "一二…")
        #expect(PrintableText.cut("一二三", to: 4) == "一…")
    }

    @Test(
        "Ideographs, Hangul, full-width forms and emoji take two columns, and marks none",
        arguments: [
            ("abc", 3), ("一二", 4), ("한글", 4), ("かな", 4), ("Ａ！", 4), ("😀", 2), ("👨‍👩‍👧", 2), ("é", 1), ("e\u{301}", 1),
            ("ﾊﾝ", 2), ("…", 1), ("", 0),
        ])
    func width(text: String, columns: Int) { #expect(PrintableText.width(of: text) == columns) }
}
