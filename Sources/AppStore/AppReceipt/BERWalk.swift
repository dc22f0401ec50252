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
