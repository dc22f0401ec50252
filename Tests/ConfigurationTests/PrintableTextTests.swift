import Testing

@testable import Configuration

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
    }

    @Test(
        "Control and format characters cannot be seen",
        arguments: ["\0", "\n", "\u{1B}", "\u{7F}", "\u{AD}", "\u{200B}", "\u{202E}", "\u{FEFF}"] as [Unicode.Scalar])
    func invisible(scalar: Unicode.Scalar) {
        #expect(scalar.isInvisible)
    }

    @Test(
        "Letters of any script, spaces and signs can be seen",
        arguments: ["a", " ", "-", "é", "字", "\u{A0}", "😀"] as [Unicode.Scalar])
    func visible(scalar: Unicode.Scalar) {
        #expect(!scalar.isInvisible)
    }
}
