/// Reads the members of one JSON object (RFC 8259) from bytes that an attacker may have written.
///
/// Stricter than general decoders where they differ from each other: a member that stands twice is noticed, at every
/// level, because decoders disagree on which one counts. Nested values are checked but not kept. Works without
/// recursion, so depth costs memory in proportion to the text and never the stack.
public struct StrictJSON: Sendable {
    /// Nesting beyond this is noticed as ``Flaw/tooDeep``.
    public static let maxDepth = 32
    /// Members of one object beyond this are noticed as ``Flaw/tooManyMembers``.
    public static let maxMembers = 256

    /// A member's value; what is inside an object or array is not kept.
    public enum Value: Hashable, Sendable {
        /// Its escapes resolved.
        case string(String)
        /// As it is written: a reader decides how much precision it needs.
        case number(String)
        case boolean(Bool)
        case null, object, array
    }

    /// The text is not one JSON object in UTF-8: nothing in it can be trusted.
    public struct Unreadable: Error, Hashable {
        /// The fault, in a few constant words.
        public let reason: String

        /// For readers of what a walk visits, to refuse it.
        public init(reason: String) {
            self.reason = reason
        }
    }

    /// The text can be read, and yet it breaks a rule of ours.
    public enum Flaw: Hashable, Sendable {
        /// Top-level member that stands more than once. Its value is not kept.
        case duplicateMember(String)
        /// A member inside a nested object stands more than once.
        case duplicateNestedMember
        case tooDeep
        case tooManyMembers
    }

    /// The top-level members that stand once.
    public private(set) var members: Members
    /// Rules that the text breaks, in the order found.
    public private(set) var flaws: [Flaw] = []

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Reads a whole text. A byte order mark in front is passed over, as RFC 8259 allows.
    ///
    /// - Throws: `Unreadable` if it is not one JSON object in UTF-8, from its first byte to its last.
    public init(_ bytes: [UInt8]) throws(Unreadable) {
        guard (try? UTF8Span(validating: bytes.span)) != nil else { throw Unreadable(reason: "not UTF-8") }
        let start = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        members = Members(of: bytes)
        var cursor = JSONCursor(bytes: bytes, position: start)
        cursor.skipSpace()
        guard cursor.take(UInt8(ascii: "{")) else { throw Unreadable(reason: "not a JSON object") }
        try readMembers(&cursor)
        cursor.skipSpace()
        guard cursor.isAtEnd else { throw Unreadable(reason: "text after the JSON object") }
    }

    /// White space between tokens (RFC 8259 section 2).
    public static func isSpace(_ byte: UInt8) -> Bool { JSONCursor.isSpace(byte) }

    private mutating func readMembers(_ cursor: inout JSONCursor) throws(Unreadable) {
        cursor.skipSpace()
        if cursor.take(UInt8(ascii: "}")) { return }
        while true {
            cursor.skipSpace()
            let name = try cursor.text()
            cursor.skipSpace()
            guard cursor.take(UInt8(ascii: ":")) else { throw Unreadable(reason: "not JSON") }
            cursor.skipSpace()
            if let flaw = members.add(name, try readValue(&cursor)) { note(flaw) }
            cursor.skipSpace()
            if cursor.take(UInt8(ascii: "}")) { return }
            guard cursor.take(UInt8(ascii: ",")) else { throw Unreadable(reason: "not JSON") }
        }
    }

    private mutating func note(_ flaw: Flaw) {
        // One of each is enough to answer with; the bound keeps a hostile text from growing the list.
        guard flaws.count < Self.maxMembers, !flaws.contains(flaw) else { return }
        flaws.append(flaw)
    }

    private mutating func readValue(_ cursor: inout JSONCursor) throws(Unreadable) -> JSONToken {
        switch cursor.peek {
        case UInt8(ascii: "{"):
            try skipContainers(&cursor)
            return .object
        case UInt8(ascii: "["):
            try skipContainers(&cursor)
            return .array
        default: return try cursor.scalar()
        }
    }

    /// An open object or array while a nested value is passed over.
    private enum Container {
        case array
        /// Names seen so far; empty beyond the depth that is looked at.
        case object(names: Set<[UInt8]>)
    }

    private mutating func skipContainers(_ cursor: inout JSONCursor) throws(Unreadable) {
        var open: [Container] = []
        repeat {
            cursor.skipSpace()
            // A value is expected here.
            if cursor.take(UInt8(ascii: "{")) {
                open.append(.object(names: []))
                cursor.skipSpace()
                if cursor.peek == UInt8(ascii: "}") {
                    try close(&open, &cursor)
                } else {
                    try readName(&open, &cursor)
                }
            } else if cursor.take(UInt8(ascii: "[")) {
                open.append(.array)
                cursor.skipSpace()
                if cursor.peek == UInt8(ascii: "]") { try close(&open, &cursor) }
            } else {
                _ = try cursor.scalar()
                try close(&open, &cursor)
            }
            if open.count >= Self.maxDepth { note(.tooDeep) }
        } while !open.isEmpty
    }

    /// After a value: passes over closing brackets up to the next value of a container that is still open.
    private mutating func close(_ open: inout [Container], _ cursor: inout JSONCursor) throws(Unreadable) {
        while let innermost = open.last {
            cursor.skipSpace()
            if cursor.take(UInt8(ascii: ",")) {
                if case .object = innermost { try readName(&open, &cursor) }
                return
            }
            let end: UInt8 = if case .array = innermost { UInt8(ascii: "]") } else { UInt8(ascii: "}") }
            guard cursor.take(end) else { throw Unreadable(reason: "not JSON") }
            open.removeLast()
        }
    }

    private mutating func readName(_ open: inout [Container], _ cursor: inout JSONCursor) throws(Unreadable) {
        cursor.skipSpace()
        let name = try cursor.text()
        cursor.skipSpace()
        guard cursor.take(UInt8(ascii: ":")) else { throw Unreadable(reason: "not JSON") }
        guard open.count <= Self.maxDepth, case .object(var names) = open.popLast() else { return }
        if names.count >= Self.maxMembers {
            note(.tooManyMembers)
        } else if !names.insert(Array(name.bytes(in: cursor.bytes))).inserted {
            note(.duplicateNestedMember)
        }
        open.append(.object(names: names))
    }
}
