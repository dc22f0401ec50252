import JSONReading

/// The members that count, found by their names.
struct MemberNames<Member: CaseIterable & RawRepresentable<String> & Sendable>: Sendable {
    private let members = Array(Member.allCases)
    private let names = JSONNameList(Member.allCases.map(\.rawValue))

    /// The member of a name that the walk came to; nil for one that does not count.
    func member(_ name: JSONWalk.Name, in walk: JSONWalk) -> Member? {
        walk.index(of: name, in: names).map { members[$0] }
    }
}
