import JSONReading

/// The members that count, found by their names as bytes: no name of an answer becomes a string.
struct MemberNames<Member: CaseIterable & RawRepresentable<String> & Sendable>: Sendable {
    private let members = Member.allCases.map { (name: Array($0.rawValue.utf8), member: $0) }

    /// The member of a name; nil for one that does not count.
    subscript(name: JSONWalk.Name) -> Member? { members.first { name.isEqual(to: $0.name) }?.member }
}
