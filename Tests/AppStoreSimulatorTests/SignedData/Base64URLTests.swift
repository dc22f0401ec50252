import Testing

@testable import AppStoreSimulator

struct Base64URLTests {
    @Test func theURLsAlphabetIsUsedWithoutPadding() {
        #expect(Base64URL.encode([0xfb, 0xff, 0xbf, 0x01]) == "-_-_AQ")
        #expect(Base64URL.encode([]) == "")
    }

    @Test(arguments: 0..<10)
    func whatIsEncodedIsDecoded(count: Int) {
        let bytes = Array((0..<count).map { UInt8(truncatingIfNeeded: 250 + $0) })
        #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
    }

    @Test(arguments: ["+/+/", "AQ==", "A", "A A", "*"])
    func anythingElseIsRefused(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
