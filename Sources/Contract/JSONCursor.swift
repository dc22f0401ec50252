internal import Cryptography

/// A scalar of a JSON text, or the mark of a value with parts, whose contents are not kept.
public enum JSONValue: Hashable, Sendable {
    /// Its escapes resolved.
    case string(String)
    /// As it is written: a reader decides how much precision it needs.
    case number(String)
    case boolean(Bool)
    case null, object, array
}

/// A text is not JSON in UTF-8: nothing in it can be trusted.
public struct JSONUnreadable: Error, Hashable {
    /// The fault, in a few constant words.
    public let reason: String

    /// For readers of what a walk visits, to refuse it.
    public init(reason: String) { self.reason = reason }

    static let notJSON = JSONUnreadable(reason: "not JSON")
    static let unknownEscape = JSONUnreadable(reason: "unknown escape in a string")
    static let loneSurrogate = JSONUnreadable(reason: "lone surrogate in a string")
}

/// A value of a JSON text, not yet made into anything.
enum JSONToken: Sendable {
    case string(JSONString)
    /// Where it stands.
    case number(Range<Int>)
    case boolean(Bool)
    case null
    /// Where it stands.
    case object(Range<Int>)
    /// Where it stands.
    case array(Range<Int>)

    /// Whether it is an object or array of nothing but its brackets.
    func isEmpty(in text: [UInt8]) -> Bool {
        switch self {
        case .object(let place), .array(let place): text[place].count { !JSONCursor.isSpace($0) } == 2
        case .string, .number, .boolean, .null: false
        }
    }

    func value(in text: [UInt8]) -> JSONValue {
        switch self {
        case .string(let string): .string(string.string(in: text))
        case .number(let place): .number(String(decoding: text[place], as: UTF8.self))
        case .boolean(let flag): .boolean(flag)
        case .null: .null
        case .object: .object
        case .array: .array
        }
    }
}

/// A string of a JSON text that is known to be UTF-8.
enum JSONString: Sendable {
    /// One without escapes: where it stands, its quotes aside.
    case unescaped(Range<Int>)
    /// One with escapes, which are resolved here, in UTF-8.
    case resolved([UInt8])

    func string(in text: [UInt8]) -> String {
        withBytes(in: text) { bytes in
            guard let text = try? UTF8Span(validating: bytes) else { return nil }
            return String(copying: text)
        } ?? String(decoding: bytes(in: text), as: UTF8.self)
    }

    /// UTF-8; of an unescaped one a part of the text, and no copy.
    func bytes(in text: [UInt8]) -> ArraySlice<UInt8> {
        switch self {
        case .unescaped(let place): text[place]
        case .resolved(let bytes): bytes[...]
        }
    }

    /// The same bytes to be looked at, without a reference to be counted.
    @inline(__always)
    func withBytes<Result>(in text: [UInt8], _ body: (borrowing Span<UInt8>) -> Result) -> Result {
        switch self {
        case .unescaped(let place): body(text.span.extracting(place))
        case .resolved(let bytes): body(bytes.span)
        }
    }
}

extension Span<UInt8> {
    func isEqual(to other: borrowing Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }
}

/// A place in a JSON text that is known to be UTF-8, with the tokens that can stand there.
struct JSONCursor {
    let bytes: [UInt8]
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

    /// Passes over white space between tokens (RFC 8259 section 2).
    mutating func skipSpace() {
        while let byte = peek, Self.isSpace(byte) { position += 1 }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// A string with its escapes resolved. A lone surrogate is an error, because Swift has no string for it.
    mutating func text() throws(JSONUnreadable) -> JSONString {
        guard take(UInt8(ascii: "\"")) else { throw .notJSON }
        let start = position
        skipUnescaped()
        // The common case: no escapes, and no copy.
        if take(UInt8(ascii: "\"")) { return .unescaped(start..<position - 1) }
        return .resolved(try escaped(from: start))
    }

    /// Passes over what stands for itself in a string: all but quotes, backslashes and control characters.
    private mutating func skipUnescaped() {
        position = unescapedBlocks(from: position)
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
            position += 1
        }
    }

    /// Evidence has kilobytes without any of these, so sixteen bytes are looked at together.
    /// - Returns: the beginning of the first block with such a byte, or of the last bytes, which are less than a block.
    private func unescapedBlocks(from start: Int) -> Int {
        // The load is safe: it is checked against the bounds, and sixteen bytes may have any pattern of bits. The same
        // holds for the two numbers below.
        let text = bytes.span.bytes
        var end = start
        while end <= text.byteCount - 16 {
            let block = text.unsafeLoadUnaligned(fromByteOffset: end, as: SIMD16<UInt8>.self)
            let isSpecial = block .== Self.quotes .| block .== Self.backslashes .| block .< Self.spaces
            let marks = unsafeBitCast(SIMD16<UInt8>().replacing(with: 1, where: isSpecial), to: SIMD2<UInt64>.self)
            guard marks[0] | marks[1] == 0 else { break }
            end += 16
        }
        return end
    }

    private static var quotes: SIMD16<UInt8> { SIMD16(repeating: UInt8(ascii: "\"")) }
    private static var backslashes: SIMD16<UInt8> { SIMD16(repeating: UInt8(ascii: "\\")) }
    private static var spaces: SIMD16<UInt8> { SIMD16(repeating: UInt8(ascii: " ")) }

    /// The rest of a string with escapes. Some encoders escape every `/` of a receipt.
    private mutating func escaped(from start: Int) throws(JSONUnreadable) -> [UInt8] {
        var text = Array(bytes[start..<position])
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"): try takeEscape(into: &text)
            default: throw JSONUnreadable(reason: "control character in a string")
            }
            let start = position
            skipUnescaped()
            text.append(contentsOf: bytes[start..<position])
        }
        throw .notJSON
    }

    private mutating func takeEscape(into text: inout [UInt8]) throws(JSONUnreadable) {
        guard let byte = peek else { throw .notJSON }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try unicodeEscape()).utf8)
        default: throw .unknownEscape
        }
    }

    private mutating func unicodeEscape() throws(JSONUnreadable) -> Unicode.Scalar {
        var code = try fourHexDigits()
        if (0xD800..<0xDC00).contains(code) {
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw .loneSurrogate }
            let low = try fourHexDigits()
            guard (0xDC00..<0xE000).contains(low) else { throw .loneSurrogate }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw .loneSurrogate }
        return scalar
    }

    private mutating func fourHexDigits() throws(JSONUnreadable) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap(Hexadecimal.value(of:)) else { throw .unknownEscape }
            position += 1
            code = code << 4 + UInt32(digit)
        }
        return code
    }

    /// A string, a number, `true`, `false` or `null`.
    mutating func scalar() throws(JSONUnreadable) -> JSONToken {
        peek == UInt8(ascii: "\"") ? .string(try text()) : try literal()
    }

    /// A number, `true`, `false` or `null`.
    private mutating func literal() throws(JSONUnreadable) -> JSONToken {
        switch peek {
        case UInt8(ascii: "t") where takeWord("true"): return .boolean(true)
        case UInt8(ascii: "f") where takeWord("false"): return .boolean(false)
        case UInt8(ascii: "n") where takeWord("null"): return .null
        default: return try number()
        }
    }

    private mutating func number() throws(JSONUnreadable) -> JSONToken {
        let start = position
        _ = take(UInt8(ascii: "-"))
        // RFC 8259 section 6: no leading zeros, digits on both sides of the point, digits in the exponent.
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return .number(start..<position)
    }

    private mutating func digits() throws(JSONUnreadable) {
        guard let first = peek, (0x30...0x39).contains(first) else { throw .notJSON }
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
