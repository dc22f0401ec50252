import Contract
import Testing

@testable import AppStore

@Suite("Base64 of a JWS")
struct Base64URLTests {
    private func decode(_ text: String) -> [UInt8]? { Base64URL.decode(Array(text.utf8)[...]) }

    @Test("bytes of every length come back", arguments: 0..<70)
    func roundTrip(count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        #expect(decode(SignedToken.base64URL(bytes)) == bytes)
    }

    @Test("a slice of a longer text is read from its own start to its own end")
    func slice() {
        let text = Array("....-_-_....".utf8)
        #expect(Base64URL.decode(text[4..<8]) == [0xFB, 0xFF, 0xBF])
    }

    @Test(
        "other alphabets, padding, white space, impossible lengths and last bits that no encoder writes are refused",
        arguments: [
            "+_-_", "/_-_", "AA==", "AAA=", "AA A", "A A", "AA\n", "A", "AAAAA", "AB", "AAB", "AA.A", "ÄA", "A\u{0}",
        ])
    func refused(text: String) {
        #expect(decode(text) == nil)
    }
}
