import Contract

extension JSONWalk {
    /// The next value as text, whether Apple sent a string, a number or a boolean; nil for null, an array or an object.
    mutating func lenientText() throws(JSONUnreadable) -> String? {
        switch try scalar() {
        case .string(let text): text
        case .number(let text): LenientNumber.plain(text)
        case .boolean(let flag): String(flag)
        case .null, .object, .array, nil: nil
        }
    }
}

/// The members that count, found by their names.
struct MemberNames<Member: CaseIterable & RawRepresentable<String> & Sendable>: Sendable {
    private let members = Array(Member.allCases)
    private let names = JSONNameList(Member.allCases.map(\.rawValue))

    /// The member of a name that the walk came to; nil for one that does not count.
    func member(_ name: JSONWalk.Name, in walk: JSONWalk) -> Member? {
        walk.index(of: name, in: names).map { members[$0] }
    }
}

/// The texts of the members that count, where there are a few: they are looked through, which costs less than hashing.
struct MemberTexts<Member: Equatable & Sendable>: Sendable {
    private var entries: [(member: Member, text: String)] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Makes room for so many at once.
    mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    /// The text of a member, if it has one. One that was set stays.
    subscript(member: Member) -> String? {
        // By their places: what hands out entries counts a reference for each that is looked at.
        for place in entries.indices where entries[place].member == member { return entries[place].text }
        return nil
    }

    /// Takes the text of a member that has none; of one that stands twice the first counts.
    mutating func add(_ text: String?, for member: Member) {
        guard let text, self[member] == nil else { return }
        entries.append((member, text))
    }

    /// Takes the texts that others have and this has not.
    mutating func complete(from others: MemberTexts, where isTaken: (Member) -> Bool) {
        for (member, text) in others.entries where isTaken(member) { add(text, for: member) }
    }
}
