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
