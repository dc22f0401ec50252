import Testing

@testable import AppStoreSimulator

struct Base64URLTests {
    @Test("The URL's alphabet is used without padding")
    func alphabet() {
        #expect(Base64URL.encode([0xfb, 0xff, 0xbf, 0x01]) == "-_-_AQ")
        #expect(Base64URL.encode([]) == "")
    }

    @Test("Bytes that are encoded are decoded", arguments: 0..<10)
    func roundTrip(count: Int) {
        let bytes = Array((0..<count).map { UInt8(truncatingIfNeeded: 250 + $0) })
        #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
    }

    @Test("Anything else is refused", arguments: ["+/+/", "AQ==", "A", "A A", "*"])
    func refused(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
