import Contract

/// A set of attributes, `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`, in its order.
struct ReceiptAttributes {
    /// Longest text that an attribute may hold, in bytes; a longer one counts as absent.
    static let maxTextBytes = 1024

    /// Room for what most sets have: some 25 of a receipt and 20 of a purchase.
    private static let usualCount = 32

    /// One that has the form of an attribute. Its value is a place in the set's bytes, so that nothing is counted for the
    /// many that nobody asks for.
    struct Attribute {
        let type: Int
        let value: BERValue.Octets
    }

    let bytes: ArraySlice<UInt8>
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
                parts.next(in: span) != nil, let value = parts.last(in: span)?.octets(in: span)
            else { continue }
            list.append(Attribute(type: type, value: value))
        }
        self.bytes = bytes
        self.list = list
    }

    /// The values of every attribute of a type.
    func values(_ type: Int) -> [ArraySlice<UInt8>] {
        list.lazy.filter { $0.type == type }.map { $0.value.bytes(in: bytes) }
    }

    /// A text; nil when it is absent, empty, too long or not UTF-8.
    func text(_ type: Int) -> String? {
        withFirst(type) { tag, bytes in
            guard Self.textTags.contains(tag), !bytes.isEmpty, bytes.count <= Self.maxTextBytes,
                let text = try? UTF8Span(validating: bytes)
            else { return nil }
            return String(copying: text)
        }
    }

    /// A date and time; nil when it is absent, not RFC 3339, or empty, as a cancellation date is on a purchase that
    /// stands.
    func moment(_ type: Int) -> Timestamp? {
        withFirst(type) { tag, bytes in Self.textTags.contains(tag) ? Timestamp(rfc3339: bytes) : nil }
    }

    /// An integer; nil when it is absent or not one of 64 bits.
    func integer(_ type: Int) -> Int64? {
        withFirst(type) { tag, bytes in
            guard tag == Self.integerTag, (1...8).contains(bytes.count) else { return nil }
            var number: Int64 = bytes[0] & 0x80 == 0 ? 0 : -1
            for place in bytes.indices { number = number << 8 | Int64(bytes[place]) }
            return number
        }
    }

    /// Whether an attribute is there and says something: one that does and cannot be read must not count as absent.
    func holdsValue(_ type: Int) -> Bool {
        guard let isEmpty = withValue(type, { $0.isEmpty }), !isEmpty else { return false }
        return withFirst(type) { _, bytes in bytes.isEmpty } != true
    }

    /// Looks at the primitive value of the first attribute of a type; Apple's receipts have each once. Nil when it is
    /// absent or anything else.
    ///
    /// Read without the parser, which goes into branches; the many values here have none.
    private func withFirst<Result>(_ type: Int, _ body: (UInt8, Span<UInt8>) -> Result?) -> Result? {
        withValue(type) { value in
            guard value.count >= 2, value[0] & 0x20 == 0, value[0] & 0x1f != 0x1f else { return nil }
            var start = 2
            var length = Int(value[1])
            if value[1] & 0x80 != 0 {
                let count = Int(value[1] & 0x7f)
                // More than four bytes of length are longer than a receipt.
                guard (1...4).contains(count), count <= value.count - start else { return nil }
                length = 0
                for place in start..<(start + count) { length = length << 8 | Int(value[place]) }
                start += count
            }
            guard value.count - start == length else { return nil }
            return body(value[0], value.extracting(start...))
        }
    }

    /// Looks at the value of the first attribute of a type; nil when it is absent.
    private func withValue<Result>(_ type: Int, _ body: (Span<UInt8>) -> Result?) -> Result? {
        guard let place = list.firstIndex(where: { $0.type == type }) else { return nil }
        switch list[place].value {
        case .whole(let place): return body(bytes.span.extracting(place))
        case .pieces: return body(list[place].value.bytes(in: bytes).span)
        }
    }

    /// UTF8String and IA5String.
    private static let textTags: [UInt8] = [0x0c, 0x16]
    private static let integerTag: UInt8 = 0x02
}
