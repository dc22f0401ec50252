extension StrictJSON {
    /// The members of one object that stand once, by their names. Names and values are places in the text: nothing becomes a string
    /// before it is asked for.
    ///
    /// A dozen or two are looked through, which costs less than hashing a name. Where there are more, which no honest text has, they
    /// are hashed, so that looking through them is not what a hostile text costs.
    public struct Members: Sendable {
        /// Most members that are looked through.
        static let mostLookedThrough = 32

        private struct Member {
            let name: JSONString
            /// Bytes of the name: most differ in that.
            let nameCount: Int
            let value: JSONToken
            var standsOnce = true
        }

        private let text: [UInt8]
        private var list: [Member] = []
        /// Where each name is in the list, if there are more than are looked through; else empty.
        private var places: [[UInt8]: Int] = [:]

        init(of text: [UInt8]) {
            self.text = text
            // Signed transactions have some 23, submissions half as many.
            list.reserveCapacity(24)
        }

        /// The value of a member; nil if there is none, or more than one of that name.
        public subscript(name: String) -> Value? { member(name)?.value.value(in: text) }

        /// The text of a member that is a string, in UTF-8 and with its escapes resolved; nil if it is none. What has no escapes is
        /// a part of the bytes that were read, and keeps them all in memory.
        public func bytes(of name: String) -> ArraySlice<UInt8>? {
            guard case .string(let string) = member(name)?.value else { return nil }
            return string.bytes(in: text)
        }

        /// The names, in the order of the text.
        public var names: [String] { list.filter(\.standsOnce).map { $0.name.string(in: text) } }

        /// Takes a member.
        ///
        /// - Returns: the rule that it breaks, if any. One that stands again is reported once.
        mutating func add(_ name: JSONString, _ value: JSONToken) -> Flaw? {
            let place =
                places.isEmpty
                ? name.withBytes(in: text) { lookThrough(for: $0) } : places[Array(name.bytes(in: text))]
            if let place {
                guard list[place].standsOnce else { return nil }
                list[place].standsOnce = false
                return .duplicateMember(name.string(in: text))
            }
            guard list.count < maxMembers else { return .tooManyMembers }
            list.append(Member(name: name, nameCount: name.withBytes(in: text) { $0.count }, value: value))
            if !places.isEmpty {
                places[Array(name.bytes(in: text))] = list.count - 1
            } else if list.count > Self.mostLookedThrough {
                for (place, member) in list.enumerated() { places[Array(member.name.bytes(in: text))] = place }
            }
            return nil
        }

        private func member(_ name: String) -> Member? {
            let place = places.isEmpty ? lookThrough(for: name.utf8Span.span) : places[Array(name.utf8)]
            guard let place, list[place].standsOnce else { return nil }
            return list[place]
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
