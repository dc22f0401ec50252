/// Names of members to look for, found by their bytes: no name of a text becomes a string.
public struct JSONNameList: Sendable {
    /// All names, one after another: in arrays of their own each look would count references.
    private let text: [UInt8]
    private let places: [Range<Int>]

    /// A list of names, each of which stands for its index.
    public init(_ names: [String]) {
        var text: [UInt8] = []
        places = names.map { name in
            let start = text.count
            text += name.utf8
            return start..<text.count
        }
        self.text = text
    }

    func index(of name: borrowing Span<UInt8>) -> Int? {
        let text = text.span
        for index in places.indices where places[index].count == name.count {
            if text.extracting(places[index]).isEqual(to: name) { return index }
        }
        return nil
    }
}

/// A rule of ours that a text breaks which can be read all the same.
public enum JSONFlaw: Hashable, Sendable {
    /// Nesting beyond this is ``tooDeep``.
    static let maxDepth = 32
    /// Members of one object beyond this are ``tooManyMembers``.
    public static let maxMembers = 256

    /// Top-level member that stands more than once. Its value is not kept.
    case duplicateMember(String)
    /// A member inside a nested object stands more than once.
    case duplicateNestedMember
    case tooDeep
    case tooManyMembers
}

/// Walks through a JSON text (RFC 8259), value by value. The caller takes the values that it wants; the rest is passed
/// over and not kept.
///
/// The whole text is checked on the way, so a text that is damaged anywhere is refused once ``end()`` is reached. Of
/// members that stand twice the caller sees both. Takes no recursion but the caller's own. For texts of a sender that
/// is not hostile, such as Apple; ``StrictJSON`` reads other texts.
public struct JSONWalk {
    /// Nesting beyond this is not walked into: the text is refused.
    static let maxDepth = 512

    /// A member's name, to be asked about with ``index(of:in:)``.
    public struct Name {
        let text: JSONString
    }

    public enum Kind: Hashable, Sendable {
        /// A string, a number, a boolean or null.
        case scalar
        case object, array
    }

    private var cursor: JSONCursor
    /// The flaws found so far, in their order; nil where flaws are not collected, and depth has a limit instead.
    private(set) var flaws: [JSONFlaw]?

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Begins before the first value of a text. A byte order mark in front is passed over, as RFC 8259 allows.
    /// - Throws: if the bytes are not UTF-8.
    public init(_ bytes: [UInt8]) throws(JSONUnreadable) { try self.init(bytes, flaws: nil) }

    init(_ bytes: [UInt8], flaws: [JSONFlaw]?) throws(JSONUnreadable) {
        guard (try? UTF8Span(validating: bytes.span)) != nil else { throw JSONUnreadable(reason: "not UTF-8") }
        let start = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        cursor = JSONCursor(bytes: bytes, position: start)
        self.flaws = flaws
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
    /// - Throws: if the next value is no object, or is damaged; the visitor's errors.
    public mutating func members(
        _ visit: (inout JSONWalk, Name) throws(JSONUnreadable) -> Void
    ) throws(JSONUnreadable) {
        guard cursor.take(UInt8(ascii: "{")) else { throw JSONUnreadable(reason: "not a JSON object") }
        cursor.skipSpace()
        if cursor.take(UInt8(ascii: "}")) { return cursor.skipSpace() }
        repeat {
            let name = Name(text: try passName())
            let before = cursor.position
            try visit(&self, name)
            if cursor.position == before { try pass() }
        } while cursor.take(UInt8(ascii: ","))
        try close(UInt8(ascii: "}"))
    }

    /// Where a name stands in a list; nil if it does not.
    /// - Precondition: it is this walk that came to the name.
    public func index(of name: Name, in names: JSONNameList) -> Int? {
        name.text.withBytes(in: cursor.bytes) { names.index(of: $0) }
    }

    /// Walks through an array. The visitor takes what it wants of an element; the rest is passed over.
    /// - Throws: if the next value is no array, or is damaged; the visitor's errors.
    public mutating func elements(
        _ visit: (inout JSONWalk) throws(JSONUnreadable) -> Void
    ) throws(JSONUnreadable) {
        guard cursor.take(UInt8(ascii: "[")) else { throw JSONUnreadable(reason: "not a JSON array") }
        cursor.skipSpace()
        if cursor.take(UInt8(ascii: "]")) { return cursor.skipSpace() }
        repeat {
            cursor.skipSpace()
            let before = cursor.position
            try visit(&self)
            if cursor.position == before { try pass() }
        } while cursor.take(UInt8(ascii: ","))
        try close(UInt8(ascii: "]"))
    }

    /// Takes the next value; nil for an object or an array, which is passed over.
    public mutating func scalar() throws(JSONUnreadable) -> JSONValue? {
        switch try token() {
        case .object, .array: nil
        case let token: token.value(in: cursor.bytes)
        }
    }

    /// Takes the next value as a range of the text. An object or an array is passed over.
    mutating func token() throws(JSONUnreadable) -> JSONToken {
        switch kind {
        case .scalar:
            let token = try cursor.scalar()
            cursor.skipSpace()
            return token
        case .object:
            let start = cursor.position
            try pass()
            return .object(start..<cursor.position)
        case .array:
            let start = cursor.position
            try pass()
            return .array(start..<cursor.position)
        }
    }

    /// An object or array that is open while a value is passed over.
    private struct Container {
        /// The byte that ends it.
        let end: UInt8
        /// Names seen so far, where names that stand twice are looked for.
        var names: Set<[UInt8]> = []
    }

    /// Passes over the next value.
    public mutating func pass() throws(JSONUnreadable) {
        var open: [Container] = []
        repeat {
            cursor.skipSpace()
            if cursor.take(UInt8(ascii: "{")) {
                try enter(&open, endingWith: UInt8(ascii: "}"))
                if cursor.peek != UInt8(ascii: "}") {
                    try passName(in: &open)
                    continue
                }
            } else if cursor.take(UInt8(ascii: "[")) {
                try enter(&open, endingWith: UInt8(ascii: "]"))
                if cursor.peek != UInt8(ascii: "]") { continue }
            } else {
                _ = try cursor.scalar()
            }
            try passEnds(&open)
        } while !open.isEmpty
        cursor.skipSpace()
    }

    /// Says that the text is over.
    /// - Throws: if something follows.
    public func end() throws(JSONUnreadable) {
        guard cursor.isAtEnd else { throw JSONUnreadable(reason: "text after the JSON object") }
    }

    /// Keeps one of each flaw: enough to answer with. The bound keeps a hostile text from growing the list.
    mutating func found(_ flaw: JSONFlaw) {
        guard let known = flaws, known.count < JSONFlaw.maxMembers else { return }
        // A member's name comes once. Names are not compared here: as texts those of one meaning are equal, and some
        // take long to compare.
        if case .duplicateMember = flaw {} else if known.contains(flaw) { return }
        flaws?.append(flaw)
    }

    private mutating func enter(_ open: inout [Container], endingWith end: UInt8) throws(JSONUnreadable) {
        open.append(Container(end: end))
        cursor.skipSpace()
        if flaws == nil {
            guard open.count <= Self.maxDepth else { throw JSONUnreadable(reason: "nested too deep") }
        } else if open.count >= JSONFlaw.maxDepth {
            found(.tooDeep)
        }
    }

    /// After a value: passes over closing brackets, up to the next value of a container that is still open.
    private mutating func passEnds(_ open: inout [Container]) throws(JSONUnreadable) {
        while let end = open.last?.end {
            cursor.skipSpace()
            if cursor.take(UInt8(ascii: ",")) {
                if end == UInt8(ascii: "}") { try passName(in: &open) }
                return
            }
            guard cursor.take(end) else { throw .notJSON }
            open.removeLast()
        }
    }

    /// Passes over a name of the innermost container.
    private mutating func passName(in open: inout [Container]) throws(JSONUnreadable) {
        let name = try passName()
        guard flaws != nil, open.count <= JSONFlaw.maxDepth else { return }
        let innermost = open.count - 1
        if open[innermost].names.count >= JSONFlaw.maxMembers {
            found(.tooManyMembers)
        } else if !open[innermost].names.insert(Array(name.bytes(in: cursor.bytes))).inserted {
            found(.duplicateNestedMember)
        }
    }

    private mutating func passName() throws(JSONUnreadable) -> JSONString {
        cursor.skipSpace()
        let name = try cursor.text()
        cursor.skipSpace()
        guard cursor.take(UInt8(ascii: ":")) else { throw .notJSON }
        cursor.skipSpace()
        return name
    }

    private mutating func close(_ end: UInt8) throws(JSONUnreadable) {
        guard cursor.take(end) else { throw .notJSON }
        cursor.skipSpace()
    }
}
