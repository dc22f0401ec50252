import Contract
import Testing

@testable import AppStore

@Suite("Parts of a compact JWS")
struct CompactJWSTests {
    /// Of a text that stands among dots that are not its own.
    private func parts(_ text: String) -> [String]? {
        let text = EvidenceText(Array("..\(text)..".utf8).dropFirst(2).dropLast(2))
        guard let token = try? CompactJWS(text) else { return nil }
        return [token.header, token.payload, token.signature, token.signed].map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("three parts, and what is signed", arguments: ["a.b.c", " a.b.c", "a.b.c\n", "\t\r\n a.b.c \u{B}\u{C}"])
    func split(text: String) {
        #expect(parts(text) == ["a", "b", "c", "a.b"])
    }

    @Test("empty parts are parts: what is wrong with them shows later")
    func empty() {
        #expect(parts("..") == ["", "", "", "."])
    }

    @Test("parts of any length", arguments: 0..<20)
    func lengths(first: Int) {
        // Beside the dot in ASCII, and with a byte that differs from it in its highest bit alone.
        let fillers = ["a", "/", "-", "\u{00AE}"]
        for second in 0..<20 {
            let filler = fillers[(first + second) % fillers.count]
            let header = String(repeating: filler, count: first)
            let payload = String(repeating: filler, count: second)
            #expect(parts("\(header).\(payload).c") == [header, payload, "c", "\(header).\(payload)"])
            #expect(parts("\(header).\(payload)") == nil)
            #expect(parts("\(header).\(payload).c\(payload).") == nil)
        }
    }

    @Test("other numbers of parts", arguments: ["", " ", "a", "a.b", "a.b.c.d", "a.b.c.d.e", "....", ".", "a. b"])
    func refused(text: String) {
        #expect(throws: SignedTransactionError.notThreeParts) { try CompactJWS(EvidenceText(text)) }
    }

    @Test("white space of Unicode is no white space of ours")
    func unicodeSpace() {
        #expect(parts("\u{A0}a.b.c")?.first == "\u{A0}a")
    }

    @Test("the bound on the size holds before anything is looked at")
    func size() {
        let limit = SignedTransactionVerifier.maxBytes
        #expect(parts(String(repeating: "a", count: limit - 4) + ".b.c") != nil)
        let beyond = EvidenceText(String(repeating: ".", count: limit + 1))
        #expect(throws: SignedTransactionError.tooLarge) { try CompactJWS(beyond) }
    }
}
