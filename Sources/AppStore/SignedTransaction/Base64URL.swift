/// Base64 with the URL-safe alphabet and without padding, as JWS has it (RFC 7515, section 2; RFC 4648, section 5).
enum Base64URL {
    private static let invalid: UInt8 = 0xFF

    private static let values: [UInt8] = {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// The bytes that a text stands for; nil for any other character, padding included, and for a length or last bits
    /// that no encoder writes: a text has one spelling, so that nothing is accepted in two.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        let blocks = text.count / Base64Blocks.characters
        guard var bytes = Base64Blocks.decode(text, blocks: blocks, .urlSafe) else { return nil }
        var count = blocks * Base64Blocks.bytes
        // The end, character by character; `bytes` has room for all of it.
        let values = Self.values
        var position = text.startIndex + blocks * Base64Blocks.characters
        var seen: UInt8 = 0
        while position <= text.endIndex - 4 {
            let a = values[Int(text[position])], b = values[Int(text[position + 1])]
            let c = values[Int(text[position + 2])], d = values[Int(text[position + 3])]
            seen |= a | b | c | d
            bytes[count] = a << 2 | b >> 4
            bytes[count + 1] = b << 4 | c >> 2
            bytes[count + 2] = c << 6 | d
            count += 3
            position += 4
        }
        if rest > 0 {
            let a = values[Int(text[position])], b = values[Int(text[position + 1])]
            let c = rest == 3 ? values[Int(text[position + 2])] : 0
            seen |= a | b | c
            // Bits that no byte gets are zero.
            guard rest == 2 ? b & 0x0F == 0 : c & 0x03 == 0 else { return nil }
            bytes[count] = a << 2 | b >> 4
            count += 1
            if rest == 3 {
                bytes[count] = b << 4 | c >> 2
                count += 1
            }
        }
        guard seen < 64 else { return nil }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
