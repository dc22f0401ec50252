import Purchases

/// A set of attributes, `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`, in its order.
struct ReceiptAttributes {
    /// Longest text that an attribute may hold, in bytes; a longer one counts as absent.
    static let maxTextBytes = 1024

    /// Room for what most sets have: some 25 of a receipt and 20 of a purchase.
    private static let usualCount = 32

    /// One that has the form of an attribute.
    struct Attribute: Equatable {
        let type: Int
        let value: ArraySlice<UInt8>
    }

    let list: [Attribute]

    /// Reads a receipt's payload.
    init(receiptPayload payload: ArraySlice<UInt8>) throws(AppReceiptError) {
        guard let value = BERValue(payload.span) else { throw .notReceiptAttributes }
        // Xcode wraps the set into one more OCTET STRING.
        let wrapped = value.octets(in: payload)
        guard let attributes = wrapped.flatMap(Self.init(set:)) ?? Self(value, in: payload) else {
            throw .notReceiptAttributes
        }
        self = attributes
    }

    /// Reads a nested set; nil if it is none.
    init?(set bytes: ArraySlice<UInt8>) {
        guard let value = BERValue(bytes.span) else { return nil }
        self.init(value, in: bytes)
    }

    /// Members of another form are left out.
    private init?(_ value: BERValue, in bytes: ArraySlice<UInt8>) {
        let span = bytes.span
        guard var members = value.members(BERValue.set) else { return nil }
        var list: [Attribute] = []
        list.reserveCapacity(Self.usualCount)
        while let member = members.next(in: span) {
            guard var parts = member.members(BERValue.sequence), let type = parts.next(in: span)?.integer(in: span),
                parts.next(in: span) != nil, let value = parts.last(in: span)?.octets(in: bytes)
            else { continue }
            list.append(Attribute(type: type, value: value))
        }
        self.list = list
    }

    /// The values of every attribute of a type.
    func values(_ type: Int) -> [ArraySlice<UInt8>] {
        list.lazy.filter { $0.type == type }.map(\.value)
    }

    /// A text; nil when it is absent, empty, too long or not UTF-8.
    func text(_ type: Int) -> String? {
        guard let (tag, bytes) = first(type), Self.textTags.contains(tag), !bytes.isEmpty,
            bytes.count <= Self.maxTextBytes
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A date and time; nil when it is absent, not RFC 3339, or empty, as a cancellation date is on a purchase that stands.
    func moment(_ type: Int) -> Timestamp? {
        guard let (tag, bytes) = first(type), Self.textTags.contains(tag) else { return nil }
        return Timestamp(receiptDate: bytes.span) ?? text(type).flatMap(Timestamp.init(rfc3339:))
    }

    /// An integer; nil when it is absent or not one of 64 bits.
    func integer(_ type: Int) -> Int64? {
        guard let (tag, bytes) = first(type), tag == Self.integerTag, (1...8).contains(bytes.count),
            let top = bytes.first
        else { return nil }
        return bytes.reduce(top & 0x80 == 0 ? 0 : -1) { $0 << 8 | Int64($1) }
    }

    /// Whether an attribute is there and says something: one that does and cannot be read must not count as absent.
    func holdsValue(_ type: Int) -> Bool {
        guard let attribute = list.first(where: { $0.type == type }), !attribute.value.isEmpty else { return false }
        return first(type)?.bytes.isEmpty != true
    }

    /// The primitive value of the first attribute of a type; Apple's receipts have each once. Nil when it is absent or
    /// anything else.
    ///
    /// Read without the parser, which builds a tree for each of the many values that have no branches.
    private func first(_ type: Int) -> (tag: UInt8, bytes: ArraySlice<UInt8>)? {
        guard var rest = list.first(where: { $0.type == type })?.value, let tag = rest.popFirst(),
            tag & 0x20 == 0, tag & 0x1f != 0x1f, let short = rest.popFirst()
        else { return nil }
        var length = Int(short)
        if short & 0x80 != 0 {
            let count = Int(short & 0x7f)
            // More than four bytes of length are longer than a receipt.
            guard (1...4).contains(count), count <= rest.count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        return rest.count == length ? (tag, rest) : nil
    }

    /// UTF8String and IA5String.
    private static let textTags: [UInt8] = [0x0c, 0x16]
    private static let integerTag: UInt8 = 0x02
}
