import Testing

@testable import Worker

@Suite("Characters that cannot be seen")
struct UnicodeScalarVisibilityTests {
    @Test(
        "Controls and formats cannot be seen",
        arguments: ["\0", "\n", "\u{1B}", "\u{7F}", "\u{AD}", "\u{200B}", "\u{202E}", "\u{FEFF}"] as [Unicode.Scalar])
    func invisible(scalar: Unicode.Scalar) {
        #expect(scalar.isInvisible)
    }

    @Test(
        "Letters of any script, spaces and signs can",
        arguments: ["a", " ", "-", "é", "字", "\u{A0}", "😀"] as [Unicode.Scalar])
    func visible(scalar: Unicode.Scalar) {
        #expect(!scalar.isInvisible)
    }
}
