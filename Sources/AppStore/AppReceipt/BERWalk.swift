/// Goes over values in BER or DER from header to header, and keeps nothing but where it is.
struct BERWalk {
    /// Deepest nesting; a receipt and what it carries have some 15 levels.
    static let maxDepth = 50
    /// Most values that are gone over at once. A receipt of ``AppReceipt/maxBytes`` has some 42,000 in its payload.
    static let maxValues = 1 << 16

    /// Where the next value is to begin.
    private(set) var position: Int
    /// Values gone over, those included that only end others.
    private var values = 0

    /// A walk that begins at a place.
    init(from position: Int) {
        self.position = position
    }

    /// Goes over one value and all in it; false if one of them is malformed, does not end before the limit, is nested too
    /// deep, or is one too many.
    mutating func skip(_ bytes: Span<UInt8>, before limit: Int) -> Bool {
        skip(bytes, before: limit, depth: 1)
    }

    private mutating func skip(_ bytes: Span<UInt8>, before limit: Int, depth: Int) -> Bool {
        guard depth <= Self.maxDepth, count(), let header = BERHeader(bytes, at: position, before: limit)
        else { return false }
        position = header.contents
        guard let end = header.end else {
            while !endsContents(bytes, before: limit) {
                guard skip(bytes, before: limit, depth: depth + 1) else { return false }
            }
            position += 2
            return count()
        }
        if header.isConstructed {
            while position < end {
                guard skip(bytes, before: end, depth: depth + 1) else { return false }
            }
        }
        position = end
        return true
    }

    private mutating func count() -> Bool {
        values += 1
        return values <= Self.maxValues
    }

    /// Whether the end-of-contents octets of an indefinite length follow.
    private func endsContents(_ bytes: Span<UInt8>, before limit: Int) -> Bool {
        limit - position >= 2 && bytes[position] == 0 && bytes[position + 1] == 0
    }
}

/// The beginning of a value in BER or DER: its tag and its length (X.690, sections 8.1.2 and 8.1.3).
struct BERHeader {
    /// The tag's first byte. Tags of more bytes have numbers that nothing in a receipt has.
    let identifier: UInt8
    /// Where the contents begin.
    let contents: Int
    /// Where they end; nil if the length is indefinite, so that end-of-contents octets tell.
    let end: Int?

    /// Reads the header at a place; nil if it is none, or the contents do not end before the limit.
    ///
    /// Lengths may be written with more bytes than they need, tag numbers may not. End-of-contents octets are no value.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, at start: Int, before limit: Int) {
        guard start < limit else { return nil }
        let identifier = bytes[start]
        var position = start + 1
        if identifier & 0x1f == 0x1f {
            guard let endOfTag = Self.endOfLongTag(bytes, at: position, before: limit) else { return nil }
            position = endOfTag
        }
        guard identifier & ~Self.constructed != 0, position < limit else { return nil }
        let short = bytes[position]
        position += 1
        var length = UInt(short)
        if short == Self.indefinite {
            guard identifier & Self.constructed != 0 else { return nil }
            self.init(identifier: identifier, contents: position, end: nil)
            return
        } else if short & 0x80 != 0 {
            let count = Int(short & 0x7f)
            guard count <= 8, count <= limit - position else { return nil }
            length = 0
            for _ in 0..<count {
                length = length << 8 | UInt(bytes[position])
                position += 1
            }
        }
        guard length <= UInt(limit - position) else { return nil }
        self.init(identifier: identifier, contents: position, end: position + Int(length))
    }

    private init(identifier: UInt8, contents: Int, end: Int?) {
        self.identifier = identifier
        self.contents = contents
        self.end = end
    }

    /// Whether the contents are values themselves.
    var isConstructed: Bool { identifier & Self.constructed != 0 }

    /// The bit of an identifier that says so.
    static let constructed: UInt8 = 0x20
    private static let indefinite: UInt8 = 0x80

    /// A tag number of seven bits a byte: at least 31, which needs this form, and at most 63 bits.
    private static func endOfLongTag(_ bytes: Span<UInt8>, at start: Int, before limit: Int) -> Int? {
        var position = start
        while position < limit, bytes[position] & 0x80 != 0 { position += 1 }
        guard position < limit, position - start < 9, bytes[start] != 0x80, bytes[start] >= 0x1f else { return nil }
        return position + 1
    }
}
