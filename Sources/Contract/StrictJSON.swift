/// Reads the members of one JSON object (RFC 8259) from bytes that an attacker may have written.
///
/// It notices a duplicate member at every level, because decoders disagree on which one counts. Nested values are
/// checked but not kept. Depth costs memory in proportion to the text, and no stack.
public struct StrictJSON: Sendable {
    /// The top-level members that stand once.
    public let members: Members
    /// Rules that the text breaks, in the order found.
    public let flaws: [JSONFlaw]

    /// Reads a whole text. A byte order mark in front is passed over, as RFC 8259 allows.
    /// - Throws: if it is not one JSON object in UTF-8, from its first byte to its last.
    public init(_ bytes: [UInt8]) throws(JSONUnreadable) {
        var walk = try JSONWalk(bytes, flaws: [])
        var members = Members(of: bytes)
        try walk.members { walk, name throws(JSONUnreadable) in
            let value = try walk.token()
            if let flaw = members.add(name.text, value) { walk.found(flaw) }
        }
        try walk.end()
        self.members = members
        flaws = walk.flaws ?? []
    }
}

extension StrictJSON {
    /// The unique members of one object. Names are compared byte by byte (RFC 8259, section 8.3). Names and values are
    /// ranges of the text; a string is made only on demand.
    ///
    /// A few short names are searched one by one, which costs less than hashing. Many, long or duplicate names, as in
    /// hostile texts, are hashed, so that their search stays cheap.
    public struct Members: Sendable {
        /// Most members that are looked through.
        static let mostLookedThrough = 32
        /// Most bytes of a name that is looked at with others.
        static let longestLookedThrough = 64

        private struct Member {
            let name: JSONString
            /// Bytes of the name: most differ in that.
            let nameCount: Int
            let value: JSONToken
            var standsOnce = true
        }

        private let text: [UInt8]
        private var list: [Member] = []
        /// Where each name is in the list; nil while they are looked through.
        private var places: [[UInt8]: Int]?
        /// Of those in the list that stand once.
        private var count = 0

        init(of text: [UInt8]) {
            self.text = text
            // Signed transactions have some 23, submissions half as many.
            list.reserveCapacity(24)
        }

        /// The value of a member; nil if there is none, or more than one of that name.
        public subscript(name: String) -> JSONValue? { member(name)?.value.value(in: text) }

        /// The text of a member that is a string, in UTF-8 and with its escapes resolved; nil for any other member. A
        /// text without escapes is a part of the bytes that were read, and keeps them all in memory.
        public func bytes(of name: String) -> ArraySlice<UInt8>? {
            guard case .string(let string) = member(name)?.value else { return nil }
            return string.bytes(in: text)
        }

        /// The elements of a member that is an array of strings; nil if it is none, or has more than so many.
        public func texts(of name: String, most: Int) -> [String]? {
            guard case .array(let place) = member(name)?.value, var walk = try? JSONWalk(Array(text[place])) else {
                return nil
            }
            var texts: [String] = []
            do throws(JSONUnreadable) {
                try walk.elements { walk throws(JSONUnreadable) in
                    guard case .string(let text) = try walk.scalar(), texts.count < most else { throw .notJSON }
                    texts.append(text)
                }
            } catch {
                return nil
            }
            return texts
        }

        /// Whether a member is an object without members or an array without elements.
        public func isEmpty(_ name: String) -> Bool { member(name)?.value.isEmpty(in: text) ?? false }

        public var names: [String] { list.filter(\.standsOnce).map { $0.name.string(in: text) } }

        /// - Returns: the rule that it breaks, if any. A name that stands again is reported once.
        mutating func add(_ name: JSONString, _ value: JSONToken) -> JSONFlaw? {
            if let place = place(of: name) {
                hashNames()
                guard list[place].standsOnce else { return nil }
                list[place].standsOnce = false
                count -= 1
                return .duplicateMember(name.string(in: text))
            }
            guard count < JSONFlaw.maxMembers else { return .tooManyMembers }
            let member = Member(name: name, nameCount: name.withBytes(in: text) { $0.count }, value: value)
            list.append(member)
            count += 1
            if places != nil {
                places?[Array(name.bytes(in: text))] = list.count - 1
            } else if list.count > Self.mostLookedThrough || member.nameCount > Self.longestLookedThrough {
                hashNames()
            }
            return nil
        }

        private mutating func hashNames() {
            guard places == nil else { return }
            places = Dictionary(uniqueKeysWithValues: list.enumerated().map { (Array($1.name.bytes(in: text)), $0) })
        }

        private func member(_ name: String) -> Member? {
            let place = if let places { places[Array(name.utf8)] } else { lookThrough(for: name.utf8Span.span) }
            guard let place, list[place].standsOnce else { return nil }
            return list[place]
        }

        private func place(of name: JSONString) -> Int? {
            if let places { return places[Array(name.bytes(in: text))] }
            return name.withBytes(in: text) { lookThrough(for: $0) }
        }

        private func lookThrough(for name: borrowing Span<UInt8>) -> Int? {
            for index in list.indices where list[index].nameCount == name.count {
                let isFound = list[index].name.withBytes(in: text) { $0.isEqual(to: name) }
                if isFound { return index }
            }
            return nil
        }
    }
}
