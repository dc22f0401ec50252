/// A value of DER (X.690), in the forms of the simulator's own receipts: short tags, definite lengths.
struct DERReader {
    /// The bytes are not as many as they say, or of another form.
    struct Malformed: Error {}

    let tag: UInt8
    let contents: ArraySlice<UInt8>

    /// Reads one value that takes all of the bytes.
    init(_ bytes: ArraySlice<UInt8>) throws(Malformed) {
        var rest = bytes
        self = try Self.next(in: &rest)
        guard rest.isEmpty else { throw Malformed() }
    }

    private init(tag: UInt8, contents: ArraySlice<UInt8>) {
        self.tag = tag
        self.contents = contents
    }

    /// The values inside of one with this tag.
    func members(of tag: UInt8) throws(Malformed) -> [DERReader] {
        guard self.tag == tag else { throw Malformed() }
        var members: [DERReader] = []
        var rest = contents
        while !rest.isEmpty { members.append(try Self.next(in: &rest)) }
        return members
    }

    /// The only value inside of one with this tag.
    func member(of tag: UInt8) throws(Malformed) -> DERReader {
        let members = try members(of: tag)
        guard members.count == 1 else { throw Malformed() }
        return members[0]
    }

    /// The bytes of an OCTET STRING.
    var octets: ArraySlice<UInt8> {
        get throws(Malformed) {
            guard tag == DERTag.octetString else { throw Malformed() }
            return contents
        }
    }

    /// The number of an INTEGER of at most eight bytes.
    var integer: Int64 {
        get throws(Malformed) {
            guard tag == DERTag.integer, (1...8).contains(contents.count) else { throw Malformed() }
            let isNegative = contents.first.map { $0 & 0x80 != 0 } ?? false
            return contents.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
        }
    }

    private static func next(in rest: inout ArraySlice<UInt8>) throws(Malformed) -> DERReader {
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { throw Malformed() }
        var count = Int(first)
        if first & 0x80 != 0 {
            count = 0
            guard (1...4).contains(first & 0x7F) else { throw Malformed() }
            for _ in 0..<(first & 0x7F) {
                guard let byte = rest.popFirst() else { throw Malformed() }
                count = count << 8 | Int(byte)
            }
        }
        guard rest.count >= count else { throw Malformed() }
        defer { rest = rest.dropFirst(count) }
        return DERReader(tag: tag, contents: rest.prefix(count))
    }
}

/// Identifier octets (X.690, section 8.1.2).
enum DERTag {
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    /// `[0]` around or in place of a constructed value.
    static let context0: UInt8 = 0xA0
}
