import Foundation
import Testing

@testable import AppStore

@Suite("Receipt text")
struct ReceiptTextTests {
    @Test(
        "brings every spelling of the same bytes into the one that Apple takes",
        arguments: ["+/+/+w==", "-_-_-w==", "+/+/+w", "-_+/+w", " +/+/\r\n+w==\n", "+/+/\t+w=\n=", "+/+/+x=="])
    func spellings(text: String) throws {
        let receipt = try ReceiptText(text)
        #expect(receipt.base64 == Array("+/+/+w==".utf8))
        #expect(receipt.bytes == [0xfb, 0xff, 0xbf, 0xfb])
    }

    @Test(
        "refuses what is not base64",
        arguments: [
            "A", "AAAAA", "AA=A", "AAA==", "AA=", "AAAA=", "AAAA====", "====", "AA*A", "AA\u{0}A", "ÄAAA", "{}",
        ])
    func garbage(text: String) {
        #expect(throws: AppReceiptError.notBase64) { try ReceiptText(text) }
    }

    @Test("tells an empty text from a wrong one", arguments: ["", " \r\n\t"])
    func empty(text: String) {
        #expect(throws: AppReceiptError.empty) { try ReceiptText(text) }
    }

    @Test("looks at the size before anything else")
    func size() {
        let long = [UInt8](repeating: UInt8(ascii: "*"), count: ReceiptText.maxTextBytes + 1)
        #expect(throws: AppReceiptError.tooLarge) { try ReceiptText.normalise(long) }
        let full = [UInt8](repeating: UInt8(ascii: "A"), count: AppReceipt.maxBytes / 3 * 4 + 4)
        #expect(throws: AppReceiptError.tooLarge) { try ReceiptText.normalise(full) }
    }

    @Test("agrees with Foundation on random bytes", arguments: 0..<64)
    func agreement(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let bytes = (0..<Int(seed)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        guard !bytes.isEmpty else { return }
        let text = Data(bytes).base64EncodedString()
        let receipt = try ReceiptText(text)
        #expect(receipt.bytes == bytes)
        #expect(receipt.base64 == Array(text.utf8))
    }
    @Test(
        "a text in the standard form is read as the same text with a space in it is, damaged or not", arguments: 0..<16)
    func standardForm(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let characters = Array("AZaz09+/-_= \r\n*\u{0}\u{7f}é".utf8)
        var outcomes: [AppReceiptError?: Int] = [:]
        for _ in 0..<400 {
            let bytes = (0..<Int.random(in: 1...80, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            var text = Array(Data(bytes).base64EncodedString().utf8)
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let index = Int.random(in: 0..<text.count, using: &generator)
                text[index] = characters.randomElement(using: &generator) ?? 0
            }
            // White space is skipped wherever it stands, and keeps a text from being read four characters at a time.
            var spaced = text
            spaced.insert(UInt8(ascii: " "), at: .random(in: 0...text.count, using: &generator))
            let read = Result { () throws(AppReceiptError) in try ReceiptText.normalise(text) }
            #expect(read == Result { () throws(AppReceiptError) in try ReceiptText.normalise(spaced) })
            outcomes[read.error, default: 0] += 1
        }
        #expect(outcomes[nil, default: 0] > 50)
        #expect(outcomes[.notBase64, default: 0] > 50)
    }
}
