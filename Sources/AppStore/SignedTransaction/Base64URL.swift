/// Base64 with the URL-safe alphabet and without padding, as JWS has it (RFC 7515, section 2; RFC 4648, section 5).
enum Base64URL {
    private static let invalid: UInt8 = 0xFF

    private static let values: [UInt8] = {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// The bytes that a text stands for; nil for any other character, padding included, and for a length or last bits that
    /// no encoder writes: a text has one spelling, so that nothing is accepted in two.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let values = Self.values
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var position = text.startIndex
        let lastWhole = text.endIndex - rest
        // Every value of the alphabet is below 64, so one look at all of them tells whether any is not.
        var seen: UInt8 = 0
        while position < lastWhole {
            let a = values[Int(text[position])], b = values[Int(text[position + 1])]
            let c = values[Int(text[position + 2])], d = values[Int(text[position + 3])]
            seen |= a | b | c | d
            bytes.append(a << 2 | b >> 4)
            bytes.append(b << 4 | c >> 2)
            bytes.append(c << 6 | d)
            position += 4
        }
        guard seen < 64 else { return nil }
        guard rest > 0 else { return bytes }
        let a = values[Int(text[position])], b = values[Int(text[position + 1])]
        let c = rest == 3 ? values[Int(text[position + 2])] : 0
        guard (a | b | c) < 64 else { return nil }
        bytes.append(a << 2 | b >> 4)
        if rest == 2 {
            guard b & 0x0F == 0 else { return nil }
        } else {
            guard c & 0x03 == 0 else { return nil }
            bytes.append(b << 4 | c >> 2)
        }
        return bytes
    }
}
