/// Base64 (RFC 4648, sections 4 and 5), sixteen characters at a time. A receipt has ten thousand of them, and looking
/// up each one costs twice as much.
enum Base64Blocks {
    /// The alphabets differ in the characters for 62 and 63.
    enum Alphabet {
        case standard, urlSafe
    }

    static let characters = 16
    /// Bytes that they stand for.
    static let bytes = 12

    /// Decodes the first blocks of a text, which must have as many. Nil if one of their characters is not in the
    /// alphabet; padding and white space are not.
    /// - Returns: Their bytes, then room for the bytes of the rest of the text, and two more.
    static func decode(_ text: ArraySlice<UInt8>, blocks: Int, _ alphabet: Alphabet) -> [UInt8]? {
        let (last, lastButOne) = alphabet == .standard ? (all("/"), all("+")) : (all("_"), all("-"))
        var decoded = [UInt8](repeating: 0, count: text.count / 4 * 3 + 2)
        var output = decoded.mutableSpan
        var bytes = output.mutableBytes
        let input = text.span.bytes
        var seen = Block()
        for block in 0..<blocks {
            // The load is checked against the bounds, and every pattern of bits is a number; so it is in the halves
            // below.
            let characters = input.unsafeLoadUnaligned(fromByteOffset: block * Self.characters, as: Block.self)
            let values = values(of: characters, lastButOne, last)
            seen = seen | values
            let halves = unsafeBitCast(values, to: SIMD2<UInt64>.self)
            // Two bytes of each are too many; the next value overwrites them.
            bytes.storeBytes(of: packed(halves[0]), toByteOffset: block * Self.bytes, as: UInt64.self)
            bytes.storeBytes(of: packed(halves[1]), toByteOffset: block * Self.bytes + 6, as: UInt64.self)
        }
        // Every value of the alphabet is below 64, so all of them together show whether one is not.
        return seen.max() < 64 ? decoded : nil
    }

    private typealias Block = SIMD16<UInt8>

    /// The value of each character; 255 for one that stands for nothing.
    @inline(__always)
    private static func values(of characters: Block, _ lastButOne: Block, _ last: Block) -> Block {
        let upper = characters &- all("A")
        let lower = characters &- all("a")
        let digits = characters &- all("0")
        var values = Block(repeating: 255)
        values = values.replacing(with: upper, where: upper .< Block(repeating: 26))
        values = values.replacing(with: lower &+ Block(repeating: 26), where: lower .< Block(repeating: 26))
        values = values.replacing(with: digits &+ Block(repeating: 52), where: digits .< Block(repeating: 10))
        values = values.replacing(with: Block(repeating: 62), where: characters .== lastButOne)
        return values.replacing(with: Block(repeating: 63), where: characters .== last)
    }

    @inline(__always)
    private static func all(_ character: Unicode.Scalar) -> Block { Block(repeating: UInt8(ascii: character)) }

    /// Eight values of six bits, one in each byte, without the two bits between them: six bytes, and two more of zeros.
    @inline(__always)
    private static func packed(_ values: UInt64) -> UInt64 {
        let ordered = values.bigEndian
        let pairs = ordered & 0x003f_003f_003f_003f | (ordered & 0x3f00_3f00_3f00_3f00) >> 2
        let quadruples = pairs & 0x0000_0fff_0000_0fff | (pairs & 0x0fff_0000_0fff_0000) >> 4
        let all = quadruples & 0x0000_0000_00ff_ffff | (quadruples & 0x00ff_ffff_0000_0000) >> 8
        return (all << 16).bigEndian
    }
}

/// Base64 with the URL-safe alphabet and without padding, as JWS has it (RFC 7515, section 2; RFC 4648, section 5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Decodes a text. Nil for any other character, padding included, and for a length or last bits that no encoder
    /// writes. So each value has exactly one accepted spelling.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        // Filled up to a whole block with zeros. Every bit of these, and of the last character beyond the last byte, is
        // zero.
        let blocks = text.count / Base64Blocks.characters + 1
        let filling = repeatElement(UInt8(ascii: "A"), count: blocks * Base64Blocks.characters - text.count)
        let count = text.count * 3 / 4
        guard var bytes = Base64Blocks.decode(text + filling, blocks: blocks, .urlSafe),
            bytes[count...].allSatisfy({ $0 == 0 })
        else { return nil }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 4 / 3 + 2)
        var pending: UInt32 = 0
        var bits = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(pending >> bits & 63)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(pending << (6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
