/// Walks through a JSON text (RFC 8259) of somebody who is not hostile, such as Apple, value by value: the caller takes
/// what it wants, and the rest is passed over without being kept.
///
/// The whole text is checked on the way, so that one that is damaged anywhere is refused once ``end()`` is reached. Of
/// members that stand twice the caller sees both. Takes no recursion but the caller's own.
public struct JSONWalk {
    /// Nesting beyond this is not walked into: the text is refused.
    public static let maxDepth = 512

    /// A member's name, to be asked about with ``index(of:in:)``.
    public struct Name {
        fileprivate let text: JSONString
    }

    /// The kind of the value that comes next.
    public enum Kind: Hashable, Sendable {
        /// A string, a number, a boolean or null.
        case scalar
        case object, array
    }

    private var cursor: JSONCursor

    /// Begins before the first value of a text.
    ///
    /// - Throws: if the bytes are not UTF-8.
    public init(_ bytes: [UInt8]) throws(StrictJSON.Unreadable) {
        guard (try? UTF8Span(validating: bytes.span)) != nil else { throw StrictJSON.Unreadable(reason: "not UTF-8") }
        cursor = JSONCursor(bytes: bytes, position: 0)
        cursor.skipSpace()
    }

    /// The kind of the value that comes next; anything that is none counts as a scalar, which will fail.
    public var kind: Kind {
        switch cursor.peek {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        default: .scalar
        }
    }

    /// Walks through an object. The visitor takes what it wants of a member; the rest is passed over.
    ///
    /// - Throws: if the next value is no object, or is damaged; and what the visitor throws.
    public mutating func members(
        _ visit: (inout JSONWalk, Name) throws(StrictJSON.Unreadable) -> Void
    ) throws(StrictJSON.Unreadable) {
        guard cursor.take(UInt8(ascii: "{")) else { throw StrictJSON.Unreadable(reason: "not a JSON object") }
        cursor.skipSpace()
        if cursor.take(UInt8(ascii: "}")) { return cursor.skipSpace() }
        repeat {
            cursor.skipSpace()
            let name = try self.name()
            try visitOne { walk throws(StrictJSON.Unreadable) in try visit(&walk, name) }
        } while cursor.take(UInt8(ascii: ","))
        try close(UInt8(ascii: "}"))
    }

    /// Where a name stands in a list; nil if it does not.
    ///
    /// - Precondition: it is this walk that came to the name.
    public func index(of name: Name, in names: JSONNameList) -> Int? {
        name.text.withBytes(in: cursor.bytes) { names.index(of: $0) }
    }

    /// Walks through an array. The visitor takes what it wants of an element; the rest is passed over.
    ///
    /// - Throws: if the next value is no array, or is damaged; and what the visitor throws.
    public mutating func elements(
        _ visit: (inout JSONWalk) throws(StrictJSON.Unreadable) -> Void
    ) throws(StrictJSON.Unreadable) {
        guard cursor.take(UInt8(ascii: "[")) else { throw StrictJSON.Unreadable(reason: "not a JSON array") }
        cursor.skipSpace()
        if cursor.take(UInt8(ascii: "]")) { return cursor.skipSpace() }
        repeat {
            cursor.skipSpace()
            try visitOne(visit)
        } while cursor.take(UInt8(ascii: ","))
        try close(UInt8(ascii: "]"))
    }

    /// Takes the next value; nil for an object or an array, which is passed over.
    public mutating func scalar() throws(StrictJSON.Unreadable) -> StrictJSON.Value? {
        guard kind == .scalar else {
            try pass()
            return nil
        }
        let token = try cursor.scalar()
        cursor.skipSpace()
        return token.value(in: cursor.bytes)
    }

    /// Passes over the next value.
    public mutating func pass() throws(StrictJSON.Unreadable) {
        /// The byte that ends each container that is open.
        var ends: [UInt8] = []
        repeat {
            cursor.skipSpace()
            if cursor.take(UInt8(ascii: "{")) {
                ends.append(UInt8(ascii: "}"))
                cursor.skipSpace()
                if cursor.peek != UInt8(ascii: "}") {
                    try passName()
                    continue
                }
            } else if cursor.take(UInt8(ascii: "[")) {
                ends.append(UInt8(ascii: "]"))
                cursor.skipSpace()
                if cursor.peek != UInt8(ascii: "]") { continue }
            } else {
                _ = try cursor.scalar()
            }
            guard ends.count <= Self.maxDepth else { throw StrictJSON.Unreadable(reason: "nested too deep") }
            try passEnds(&ends)
        } while !ends.isEmpty
        cursor.skipSpace()
    }

    /// Says that the text is over.
    ///
    /// - Throws: if something follows.
    public func end() throws(StrictJSON.Unreadable) {
        guard cursor.isAtEnd else { throw StrictJSON.Unreadable(reason: "text after the JSON value") }
    }

    /// After a value: passes over closing brackets, up to the next value of a container that is still open.
    private mutating func passEnds(_ ends: inout [UInt8]) throws(StrictJSON.Unreadable) {
        while let end = ends.last {
            cursor.skipSpace()
            if cursor.take(UInt8(ascii: ",")) {
                if end == UInt8(ascii: "}") { try passName() }
                return
            }
            guard cursor.take(end) else { throw StrictJSON.Unreadable(reason: "not JSON") }
            ends.removeLast()
        }
    }

    private mutating func passName() throws(StrictJSON.Unreadable) {
        cursor.skipSpace()
        _ = try cursor.text()
        try passColon()
    }

    private mutating func name() throws(StrictJSON.Unreadable) -> Name {
        let name = Name(text: try cursor.text())
        try passColon()
        return name
    }

    private mutating func passColon() throws(StrictJSON.Unreadable) {
        cursor.skipSpace()
        guard cursor.take(UInt8(ascii: ":")) else { throw StrictJSON.Unreadable(reason: "not JSON") }
        cursor.skipSpace()
    }

    private mutating func visitOne(
        _ visit: (inout JSONWalk) throws(StrictJSON.Unreadable) -> Void
    ) throws(StrictJSON.Unreadable) {
        let before = cursor.position
        try visit(&self)
        if cursor.position == before { try pass() }
    }

    private mutating func close(_ end: UInt8) throws(StrictJSON.Unreadable) {
        guard cursor.take(end) else { throw StrictJSON.Unreadable(reason: "not JSON") }
        cursor.skipSpace()
    }
}
