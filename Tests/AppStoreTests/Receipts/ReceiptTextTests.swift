import Contract
import FoundationEssentials
import Scheduling
import Testing

@testable import AppStore

@Suite("Receipt text")
struct ReceiptTextTests {
    /// A text as it comes, with a record around it.
    private func text(_ bytes: [UInt8]) -> EvidenceText {
        EvidenceText((Array(#"{"receipt":""#.utf8) + bytes + Array(#""}"#.utf8))[12..<12 + bytes.count])
    }

    @Test(
        "brings every spelling of the same bytes into the one that Apple takes",
        arguments: ["+/+/+w==", "-_-_-w==", "+/+/+w", "-_+/+w", " +/+/\r\n+w==\n", "+/+/\t+w=\n=", "+/+/+x=="])
    func spellings(text: String) throws {
        let receipt = try ReceiptText(EvidenceText(text))
        #expect(Array(receipt.base64) == Array("+/+/+w==".utf8))
        #expect(receipt.bytes == [0xfb, 0xff, 0xbf, 0xfb])
    }

    @Test(
        "refuses what is not base64",
        arguments: [
            "A", "AAAAA", "AA=A", "AAA==", "AA=", "AAAA=", "AAAA====", "====", "AA*A", "AA\u{0}A", "ÄAAA", "{}",
        ])
    func garbage(text: String) {
        #expect(throws: AppReceiptError.notBase64) { try ReceiptText(EvidenceText(text)) }
    }

    @Test("tells an empty text from a wrong one", arguments: ["", " \r\n\t"])
    func empty(text: String) {
        #expect(throws: AppReceiptError.empty) { try ReceiptText(EvidenceText(text)) }
    }

    @Test(
        "mends what forms and writers of JSON spoil",
        arguments: [
            (" AB CD ", "AB+CD"), ("AB%2BCD%2f%3D", "AB+CD/="), ("\"ABCD\"", "ABCD"), ("data:a/b;base64,ABCD", "ABCD"),
            (#"AB\/CD"#, "AB/CD"), (#""AB\u002bCD\u003D\u003d""#, "AB+CD=="), (#"AB\r\nCD\tE"#, "ABCDE"),
            (#"\"AB\\\/CD\""#, "AB/CD"), (#"AB\u00"#, "ABu00"), (#"AB\"#, "AB"), ("\u{FEFF}ABCD", "ABCD"),
            ("\u{A0}'ABCD'\0", "ABCD"), ("AB%", nil), ("AB%2", nil),
            ("AB%ZZ", nil), ("AB\nCD", nil), ("ABCD", nil),
        ] as [(String, String?)])
    func mended(text: String, expected: String?) {
        #expect(ReceiptText.mended(EvidenceText(text))?.string == expected)
    }

    @Test("looks at the size before anything else")
    func size() {
        let long = [UInt8](repeating: UInt8(ascii: "*"), count: ReceiptText.maxTextBytes + 1)
        #expect(throws: AppReceiptError.tooLarge) { try ReceiptText(text(long)) }
        let full = [UInt8](repeating: UInt8(ascii: "A"), count: ReceiptText.maxBytes / 3 * 4 + 4)
        #expect(throws: AppReceiptError.tooLarge) { try ReceiptText(text(full)) }
    }

    @Test("agrees with Foundation on random bytes", arguments: 1..<64)
    func agreement(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let bytes = (0..<Int(seed)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let base64 = Array(Data(bytes).base64EncodedString().utf8)
        let receipt = try ReceiptText(text(base64))
        #expect(receipt.bytes == bytes)
        #expect(Array(receipt.base64) == base64)
    }

    @Test(
        "a text in the standard form is read as the same text with a space in it is, damaged or not", arguments: 0..<16)
    func standardForm(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let characters = Array("AZaz09+/-_= \r\n*\u{0}\u{7f}é".utf8)
        var outcomes: [AppReceiptError?: Int] = [:]
        for _ in 0..<400 {
            let bytes = (0..<Int.random(in: 1...80, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            var base64 = Array(Data(bytes).base64EncodedString().utf8)
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let index = Int.random(in: 0..<base64.count, using: &generator)
                base64[index] = characters.randomElement(using: &generator) ?? 0
            }
            // White space is skipped wherever it stands, and keeps a text from being read four characters at a time.
            var spaced = base64
            spaced.insert(UInt8(ascii: " "), at: .random(in: 0...base64.count, using: &generator))
            let read = Result { () throws(AppReceiptError) in try ReceiptText(text(base64)) }
            #expect(read == Result { () throws(AppReceiptError) in try ReceiptText(text(spaced)) })
            outcomes[read.error, default: 0] += 1
        }
        #expect(outcomes[nil, default: 0] > 50)
        #expect(outcomes[.notBase64, default: 0] > 50)
    }
}
