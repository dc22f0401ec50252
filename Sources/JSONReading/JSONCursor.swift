/// A place in a JSON text that is known to be UTF-8, with the tokens that can stand there.
struct JSONCursor {
    private let bytes: [UInt8]
    private(set) var position: Int

    init(bytes: [UInt8], position: Int) {
        self.bytes = bytes
        self.position = position
    }

    var isAtEnd: Bool { position == bytes.count }

    /// The byte at the cursor; nil at the end.
    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    mutating func skipSpace() {
        while let byte = peek, Self.isSpace(byte) { position += 1 }
    }

    /// White space between tokens (RFC 8259 section 2).
    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// A string with its escapes resolved. A lone surrogate is an error, because Swift has no string for it.
    mutating func string() throws(StrictJSON.Unreadable) -> String {
        guard take(UInt8(ascii: "\"")) else { throw StrictJSON.Unreadable(reason: "not JSON") }
        let start = position
        skipPlain()
        if take(UInt8(ascii: "\"")) {
            // The common case, and the only one for evidence of many kilobytes: no escapes, one copy.
            return String(decoding: bytes[start..<position - 1], as: UTF8.self)
        }
        return try escapedString(from: start)
    }

    /// Passes over a string that is checked and not kept.
    mutating func passString() throws(StrictJSON.Unreadable) {
        guard take(UInt8(ascii: "\"")) else { throw StrictJSON.Unreadable(reason: "not JSON") }
        let start = position
        skipPlain()
        if take(UInt8(ascii: "\"")) { return }
        // Escapes are rare where nobody wants to know, so resolving them to check them costs nothing.
        _ = try escapedString(from: start)
    }

    /// The bytes of a string as they stand, if it has no escapes; nil if it has, and then nothing is taken.
    mutating func plainString() throws(StrictJSON.Unreadable) -> ArraySlice<UInt8>? {
        let before = position
        guard take(UInt8(ascii: "\"")) else { throw StrictJSON.Unreadable(reason: "not JSON") }
        let start = position
        skipPlain()
        if take(UInt8(ascii: "\"")) { return bytes[start..<position - 1] }
        position = before
        return nil
    }

    /// Passes over what stands for itself in a string: all but quotes, backslashes and control characters.
    private mutating func skipPlain() {
        position = plainWords(from: position)
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
            position += 1
        }
    }

    /// Evidence has kilobytes without any of these, so eight bytes are looked at together.
    ///
    /// - Returns: where the first eight bytes begin that have one, or the last bytes that are less than eight.
    private func plainWords(from start: Int) -> Int {
        // The load is checked against the bounds, and every pattern of bits is a number.
        let text = bytes.span.bytes
        var end = start
        while end <= text.byteCount - 8 {
            let word = text.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self)
            guard !Self.hasSpecial(word) else { break }
            end += 8
        }
        return end
    }

    /// Whether any of eight bytes is a quote, a backslash or a control character.
    ///
    /// A byte that is taken from another leaves a borrow in its highest bit where it was the larger one; a byte above 0x7F has
    /// that bit itself and is none of these. A borrow can reach the next byte only from one that was found.
    private static func hasSpecial(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let borrows =
            (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word
        return borrows & (ones &* 0x80) != 0
    }

    private mutating func escapedString(from start: Int) throws(StrictJSON.Unreadable) -> String {
        var text = Array(bytes[start..<position])
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text.append(contentsOf: try escape())
            case 0..<0x20: throw StrictJSON.Unreadable(reason: "control character in a string")
            default: text.append(byte)
            }
        }
        throw StrictJSON.Unreadable(reason: "not JSON")
    }

    private mutating func escape() throws(StrictJSON.Unreadable) -> [UInt8] {
        guard let byte = peek else { throw StrictJSON.Unreadable(reason: "not JSON") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw StrictJSON.Unreadable(reason: "unknown escape in a string")
        }
    }

    private mutating func unicodeEscape() throws(StrictJSON.Unreadable) -> [UInt8] {
        var code = try fourHexDigits()
        if (0xD800..<0xDC00).contains(code) {
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                throw StrictJSON.Unreadable(reason: "lone surrogate in a string")
            }
            let low = try fourHexDigits()
            guard (0xDC00..<0xE000).contains(low) else {
                throw StrictJSON.Unreadable(reason: "lone surrogate in a string")
            }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else {
            throw StrictJSON.Unreadable(reason: "lone surrogate in a string")
        }
        return Array(String(scalar).utf8)
    }

    private mutating func fourHexDigits() throws(StrictJSON.Unreadable) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw StrictJSON.Unreadable(reason: "unknown escape in a string")
            }
            position += 1
            code = code << 4 + UInt32(digit)
        }
        return code
    }

    /// A number, `true`, `false` or `null`.
    mutating func literal() throws(StrictJSON.Unreadable) -> StrictJSON.Value {
        switch peek {
        case UInt8(ascii: "t") where takeWord("true"): return .boolean(true)
        case UInt8(ascii: "f") where takeWord("false"): return .boolean(false)
        case UInt8(ascii: "n") where takeWord("null"): return .null
        default: return try number()
        }
    }

    private mutating func number() throws(StrictJSON.Unreadable) -> StrictJSON.Value {
        let start = position
        _ = take(UInt8(ascii: "-"))
        // RFC 8259 section 6: no leading zeros, digits on both sides of the point, digits in the exponent.
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return .number(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(StrictJSON.Unreadable) {
        guard let first = peek, (0x30...0x39).contains(first) else { throw StrictJSON.Unreadable(reason: "not JSON") }
        while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard bytes.count - position >= length else { return false }
        let candidate = bytes[position..<position + length]
        guard word.withUTF8Buffer({ candidate.elementsEqual($0) }) else { return false }
        position += length
        return true
    }
}
