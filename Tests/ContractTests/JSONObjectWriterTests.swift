import Foundation
import Testing

@testable import Contract

@Suite("JSON object writer")
struct JSONObjectWriterTests {
    private func encoded(_ members: [String: String]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(members), as: UTF8.self)
    }

    private func written(_ text: String) -> String {
        var writer = JSONObjectWriter()
        writer.member("member", text)
        return String(decoding: writer.finished(), as: UTF8.self)
    }

    @Test("writes every character as Foundation's encoder does")
    func characters() throws {
        for scalar in (UInt32(0)...0x2FF).compactMap(Unicode.Scalar.init) {
            let text = "a\(Character(scalar))b"
            #expect(try written(text) == encoded(["member": text]))
        }
        for text in ["", "/", "\"", "\\", "👩‍👧 é 礼包 \u{2028}", "\u{0}\u{1f}\u{7f}"] {
            #expect(try written(text) == encoded(["member": text]))
        }
    }

    @Test("leaves nil out, writes numbers whole and arrays of objects in order")
    func shapes() {
        var writer = JSONObjectWriter()
        writer.member("a", String?.none)
        writer.member("b", Int64.min)
        writer.member("c", Int64?.none)
        writer.member("d", objects: [1, 2]) { number, object in object.member("n", Int64(number)) }
        writer.member("e", objects: [Int]()) { _, _ in }
        #expect(
            String(decoding: writer.finished(), as: UTF8.self)
                == #"{"b":-9223372036854775808,"d":[{"n":1},{"n":2}],"e":[]}"#)
        #expect(String(decoding: JSONObjectWriter().finished(), as: UTF8.self) == "{}")
    }
}
