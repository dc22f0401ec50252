import Testing

@testable import Ledger

@Suite("The order of a batch's rows")
struct ArrayOrderTests {
    @Test(
        "is that of their texts' bytes, whatever they have in common and whichever come together",
        arguments: 0..<40 as Range<UInt64>)
    func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let beginnings = ["", "a", "com.example-0000", "com.example-00000000", "\u{212A}", "e\u{301}", "\u{e9}"]
        let letters = ["a", "b", "\0", "é", "e\u{301}", "K", "\u{212A}", "00000000", "z"]
        var texts: [String] = []
        for _ in 0..<Int(random.next() % 30) {
            var text = beginnings.randomElement(using: &random) ?? ""
            for _ in 0..<Int(random.next() % 12) { text += letters.randomElement(using: &random) ?? "" }
            texts.append(text)
        }
        let isBefore: (String, String) -> Bool = { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var ordered = texts
        ordered.order(by: { $0 }, isBefore)
        #expect(ordered.map { Array($0.utf8) } == texts.sorted(by: isBefore).map { Array($0.utf8) })
    }
}
