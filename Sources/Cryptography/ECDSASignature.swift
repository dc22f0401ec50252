/// The two spellings of an ECDSA signature on P-256: `r` and `s` in 32 bytes each (RFC 7518, section 3.4), and
/// `SEQUENCE { INTEGER r, INTEGER s }` in DER (RFC 3279, section 2.2.3), which OpenSSL takes.
enum ECDSASignature {
    static let rawByteCount = 2 * scalarByteCount

    private static let scalarByteCount = 32
    /// Two headers of two bytes, two numbers with a zero in front, and the header around them.
    private static let maxDERByteCount = 2 + 2 * (2 + 1 + scalarByteCount)

    /// Lends the signature in DER. Whether `r` and `s` are in the range that a signature needs is for OpenSSL to say.
    ///
    /// - Parameter raw: of `rawByteCount` bytes.
    static func withDER(raw: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: maxDERByteCount, alignment: 1) { der in
            var count = 2
            for start in [0, scalarByteCount] {
                let number = UnsafeRawBufferPointer(rebasing: raw[start..<start + scalarByteCount])
                count = append(number, to: der, at: count)
            }
            der[0] = 0x30
            der[1] = UInt8(truncatingIfNeeded: count - 2)
            return body(UnsafeRawBufferPointer(rebasing: der[..<count]))
        }
    }

    /// Appends an INTEGER: no zeros in front, but one before a bit that would make it negative.
    ///
    /// - Returns: where it ends.
    private static func append(
        _ number: UnsafeRawBufferPointer, to der: UnsafeMutableRawBufferPointer, at start: Int
    ) -> Int {
        var first = 0
        while first < number.count - 1, number[first] == 0 { first += 1 }
        let padding = number[first] >> 7
        let count = number.count - first + Int(padding)
        der[start] = 0x02
        der[start + 1] = UInt8(truncatingIfNeeded: count)
        var position = start + 2
        if padding == 1 {
            der[position] = 0
            position += 1
        }
        for index in first..<number.count {
            der[position] = number[index]
            position += 1
        }
        return position
    }

    /// The signature as `r` and `s`, from the DER that OpenSSL wrote; nil for anything else.
    static func raw(der: [UInt8]) -> [UInt8]? {
        guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        guard let r = scalar(&rest), let s = scalar(&rest), rest.isEmpty else { return nil }
        return r + s
    }

    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let count = rest.popFirst(), (1...33).contains(count), count <= rest.count else {
            return nil
        }
        let number = rest.prefix(Int(count)).drop { $0 == 0 }
        rest = rest.dropFirst(Int(count))
        guard number.count <= scalarByteCount else { return nil }
        return [UInt8](repeating: 0, count: scalarByteCount - number.count) + number
    }
}
