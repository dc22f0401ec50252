/// What a value in BER or DER begins with: its tag and its length (X.690, sections 8.1.2 and 8.1.3).
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
