import CertificateMaking
import Testing

@Suite("DER")
struct DERTests {
    @Test(
        "lengths take as few bytes as they need",
        arguments: [
            (0, [0]), (127, [0x7f]), (128, [0x81, 0x80]), (255, [0x81, 0xff]), (256, [0x82, 1, 0]),
            (65_536, [0x83, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func lengths(count: Int, bytes: [UInt8]) {
        #expect(DER.length(count) == bytes)
        #expect(DER.octetString([UInt8](repeating: 7, count: count)).dropFirst().starts(with: bytes))
    }

    @Test(
        "numbers take as few bytes as they need, and say whether they are negative",
        arguments: [
            (0, [0]), (1, [1]), (127, [0x7f]), (128, [0, 0x80]), (255, [0, 0xff]), (256, [1, 0]), (-1, [0xff]),
            (-128, [0x80]), (-129, [0xff, 0x7f]), (.max, [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (.min, [0x80, 0, 0, 0, 0, 0, 0, 0]),
        ] as [(Int64, [UInt8])])
    func integers(number: Int64, bytes: [UInt8]) {
        #expect(DER.integer(number) == DER.value(tag: 2, bytes))
    }

    @Test("numbers from their bytes are never negative")
    func magnitudes() {
        #expect(DER.integer(magnitude: [0, 0, 1]) == [2, 1, 1])
        #expect(DER.integer(magnitude: [0x80]) == [2, 2, 0, 0x80])
        #expect(DER.integer(magnitude: []) == [2, 1, 0])
    }

    @Test(
        "object identifiers, as RFC 5280 and RFC 2315 have them encoded",
        arguments: [
            ("2.5.29.19", [0x55, 0x1d, 0x13]), ("1.2.840.113549.1.7.2", [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2]),
            ("1.2.840.113635.100.6.11.1", [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 6, 0x0b, 1]), ("0.0", [0]),
        ] as [(String, [UInt8])])
    func objectIdentifiers(text: String, bytes: [UInt8]) {
        #expect(DER.objectIdentifier(text) == DER.value(tag: 6, bytes))
    }

    @Test("the parts of a set stand in the order that DER asks for, or in that of the caller")
    func sets() {
        let parts = [DER.integer(3), DER.integer(1), DER.integer(2)]
        #expect(DER.setOf(parts) == [0x31, 9, 2, 1, 1, 2, 1, 2, 2, 1, 3])
        #expect(DER.set(parts) == [0x31, 9, 2, 1, 3, 2, 1, 1, 2, 1, 2])
    }

    @Test("flags, texts and bits")
    func others() {
        #expect(DER.boolean(true) == [1, 1, 0xff])
        #expect(DER.boolean(false) == [1, 1, 0])
        #expect(DER.utf8String("é") == [0x0c, 2, 0xc3, 0xa9])
        #expect(DER.ia5String("a") == [0x16, 1, 0x61])
        #expect(DER.bitString([0x80], unused: 7) == [3, 2, 7, 0x80])
        #expect(DER.context(0, DER.null) == [0xa0, 2, 5, 0])
    }
}
