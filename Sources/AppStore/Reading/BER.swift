/// One value in BER or DER: its tag and its range in the bytes.
///
/// It holds no bytes, so that a receipt is read without an allocation for each value. Its functions take the bytes that
/// it was read from.
struct BERValue {
    /// Its tag, which says also whether it is constructed. Tags of more than a byte equal none of those below.
    let identifier: UInt8
    /// All of it, from the tag on.
    let encoded: Range<Int>
    /// Its contents, without the end-of-contents octets of an indefinite length.
    let contents: Range<Int>

    /// Reads bytes that are exactly one value. Everything in it is walked once. So ignored parts are well-formed, too,
    /// and later reads cannot fail.
    ///
    /// Nil if the bytes are anything else, or exceed the limits of ``BERWalk`` for depth or number of values.
    init?(_ bytes: Span<UInt8>) {
        var walk = BERWalk(from: 0)
        guard walk.skip(bytes, before: bytes.count), walk.position == bytes.count else { return nil }
        self.init(bytes, at: 0, before: bytes.count)
    }

    /// The value at a place among those that were gone over.
    fileprivate init?(_ bytes: Span<UInt8>, at start: Int, before limit: Int) {
        guard let header = BERHeader(bytes, at: start, before: limit) else { return nil }
        identifier = header.identifier
        if let end = header.end {
            encoded = start..<end
            contents = header.contents..<end
        } else {
            var walk = BERWalk(from: start)
            guard walk.skip(bytes, before: limit) else { return nil }
            encoded = start..<walk.position
            contents = header.contents..<(walk.position - 2)
        }
    }

    var tag: UInt8 { identifier & ~BERHeader.constructed }

    /// The values inside of a constructed value of the given kind; nil for any other value.
    func members(_ identifier: UInt8) -> BERMembers? { self.identifier == identifier ? BERMembers(contents) : nil }

    /// The values inside of a constructed value of the given kind, one after another; nil for any other value.
    ///
    /// For values that are seldom read: it allocates.
    func children(_ identifier: UInt8, in bytes: Span<UInt8>) -> [BERValue]? {
        guard var members = members(identifier) else { return nil }
        var children: [BERValue] = []
        while let child = members.next(in: bytes) { children.append(child) }
        return children
    }

    /// The bytes of an INTEGER without zeros in front, which encoders write differently; nil for any other value.
    func unsignedInteger(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        identifier == Self.integer && !contents.isEmpty ? bytes.slice(contents).drop { $0 == 0 } : nil
    }

    /// The contents of an OBJECT IDENTIFIER; nil for any other value.
    func objectIdentifier(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        identifier == Self.objectIdentifier ? bytes.slice(contents) : nil
    }

    /// The algorithm that an AlgorithmIdentifier names (RFC 5280, section 4.1.1.2); nil for any other value.
    func algorithm(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard var parts = members(Self.sequence) else { return nil }
        return parts.next(in: bytes.span)?.objectIdentifier(in: bytes)
    }

    /// The bytes of an OCTET STRING.
    enum Octets {
        /// Bytes at one place.
        case whole(Range<Int>)
        /// Bytes in pieces, in their order; none for no bytes.
        case pieces([Range<Int>])

        /// The bytes, joined where they are in pieces.
        func bytes(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            switch self {
            case .whole(let place): bytes.slice(place)
            case .pieces(let pieces): pieces.reduce(into: []) { $0 += bytes.slice($1) }
            }
        }
    }

    /// The bytes of an OCTET STRING; nil for any other value.
    func octets(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? { octets(in: bytes.span)?.bytes(in: bytes) }

    /// Where the bytes of an OCTET STRING are; nil for any other value.
    func octets(in bytes: Span<UInt8>) -> Octets? {
        guard tag == Self.octetString else { return nil }
        guard identifier & BERHeader.constructed != 0 else { return .whole(contents) }
        var pieces: [Range<Int>] = []
        var position = contents.lowerBound
        while position < contents.upperBound {
            // Where a value could begin nothing else begins with a zero than the end of an indefinite length.
            if bytes[position] == 0 {
                position += 2
                continue
            }
            guard let header = BERHeader(bytes, at: position, before: contents.upperBound),
                header.identifier & ~BERHeader.constructed == Self.octetString
            else { return nil }
            if !header.isConstructed, let end = header.end {
                pieces.append(header.contents..<end)
                position = end
            } else {
                position = header.contents
            }
        }
        return pieces.count == 1 ? .whole(pieces[0]) : .pieces(pieces)
    }

    /// The number that an INTEGER of up to 64 bits is; nil for any other value.
    func integer(in bytes: Span<UInt8>) -> Int? {
        identifier == Self.integer ? Self.number(bytes.extracting(contents)).map { Int($0) } : nil
    }

    /// The number that the contents of an INTEGER are; nil unless they have one to eight bytes.
    static func number(_ contents: Span<UInt8>) -> Int64? {
        guard (1...8).contains(contents.count) else { return nil }
        var number: Int64 = contents[0] & 0x80 == 0 ? 0 : -1
        for place in contents.indices { number = number << 8 | Int64(contents[place]) }
        return number
    }

    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    /// `[0]`, constructed.
    static let contextTag0: UInt8 = 0xa0
}

/// Values that stand one after another.
struct BERMembers {
    private var rest: Range<Int>

    fileprivate init(_ contents: Range<Int>) { rest = contents }
    var isEmpty: Bool { rest.isEmpty }

    /// Takes the next one; nil if none is left.
    mutating func next(in bytes: Span<UInt8>) -> BERValue? {
        guard let value = BERValue(bytes, at: rest.lowerBound, before: rest.upperBound) else { return nil }
        rest = value.encoded.upperBound..<rest.upperBound
        return value
    }

    /// Takes the next one; nil if none is left, or another follows it.
    mutating func last(in bytes: Span<UInt8>) -> BERValue? {
        let value = next(in: bytes)
        return isEmpty ? value : nil
    }
}

extension ArraySlice<UInt8> {
    /// The bytes at places that are counted from the slice's own beginning, as a span of it counts them.
    func slice(_ places: Range<Int>) -> ArraySlice<UInt8> {
        self[(startIndex + places.lowerBound)..<(startIndex + places.upperBound)]
    }
}

/// Goes over values in BER or DER from header to header, and keeps nothing but where it is.
struct BERWalk {
    /// Deepest nesting; a receipt and what it carries have some 15 levels.
    static let maxDepth = 50
    /// Most values that are gone over at once. A receipt of ``ReceiptText/maxBytes`` has some 42,000 in its payload.
    static let maxValues = 1 << 16

    private(set) var position: Int
    /// Values gone over, those included that only end others.
    private var values = 0

    init(from position: Int) { self.position = position }

    /// Skips one value and everything in it. False if a value is malformed, does not end before the limit, is nested
    /// too deep, or is one too many.
    mutating func skip(_ bytes: Span<UInt8>, before limit: Int) -> Bool { skip(bytes, before: limit, depth: 1) }

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
            while position < end { guard skip(bytes, before: end, depth: depth + 1) else { return false } }
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
    let contents: Int
    /// Where they end; nil if the length is indefinite, and end-of-contents octets mark the end.
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
