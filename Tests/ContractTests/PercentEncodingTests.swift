import Contract
import Testing

@Suite("Percent-encoding")
struct PercentEncodingTests {
    @Test("leaves plain bytes as they are, and writes the others in capitals")
    func encoded() {
        let text = PercentEncoding.text(of: [0x00, 0x25, 0x61, 0x7e, 0xaf, 0xff]) { (0x61...0x7e).contains($0) }
        #expect(text == "%00%25a~%AF%FF")
    }

    @Test("is read in either case")
    func decoded() {
        #expect(PercentEncoding.bytes(of: "%00%25a~%aF%Ff+") == [0x00, 0x25, 0x61, 0x7e, 0xaf, 0xff, 0x2b])
        #expect(PercentEncoding.bytes(of: "") == [])
    }

    @Test(
        "needs two digits behind each percent sign", arguments: ["%", "%a", "a%4", "%g0", "%0g", "%%41", "%+1", "%é1"])
    func broken(text: String) {
        #expect(PercentEncoding.bytes(of: text[...]) == nil)
    }
}
