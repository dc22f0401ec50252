/// A value of a JSON text, not yet made into anything.
enum JSONToken: Sendable {
    case string(JSONString)
    /// Where it stands.
    case number(Range<Int>)
    case boolean(Bool)
    case null, object, array

    func value(in text: [UInt8]) -> StrictJSON.Value {
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
    case plain(Range<Int>)
    /// One with escapes, which are resolved here, in UTF-8.
    case resolved([UInt8])

    func string(in text: [UInt8]) -> String {
        withBytes(in: text) { bytes in
            guard let text = try? UTF8Span(validating: bytes) else { return nil }
            return String(copying: text)
        } ?? String(decoding: bytes(in: text), as: UTF8.self)
    }

    /// UTF-8; of a plain one a part of the text, and no copy.
    func bytes(in text: [UInt8]) -> ArraySlice<UInt8> {
        switch self {
        case .plain(let place): text[place]
        case .resolved(let bytes): bytes[...]
        }
    }

    /// The same bytes to be looked at, without a reference to be counted.
    @inline(__always)
    func withBytes<Result>(in text: [UInt8], _ body: (borrowing Span<UInt8>) -> Result) -> Result {
        switch self {
        case .plain(let place): body(text.span.extracting(place))
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
