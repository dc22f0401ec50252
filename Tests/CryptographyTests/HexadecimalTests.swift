import Cryptography
import Testing

@Suite("Hexadecimal digits")
struct HexadecimalTests {
    @Test("are lower-case ones")
    func written() {
        #expect(Hexadecimal.text(of: [0x00, 0x09, 0xa0, 0xff]) == "0009a0ff")
        #expect(Hexadecimal.text(of: []) == "")
    }

    @Test("are read in either case, or without capitals; no other byte is one", arguments: 0...UInt8.max)
    func read(byte: UInt8) {
        let lower = Array("0123456789abcdef".utf8).firstIndex(of: byte).map { UInt8($0) }
        let upper = Array("0123456789ABCDEF".utf8).firstIndex(of: byte).map { UInt8($0) }
        #expect(Hexadecimal.value(ofLowerCase: byte) == lower)
        #expect(Hexadecimal.value(of: byte) == lower ?? upper)
    }
}
