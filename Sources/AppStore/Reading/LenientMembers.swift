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

extension StrictJSON.Members {
    /// A member's text, whether Apple sent a string, a number or a boolean; nil if it is absent, empty, null, an object
    /// or an array.
    func lenientText(_ name: String) -> String? {
        switch self[name] {
        case .string(let text), .number(let text): text.isEmpty ? nil : text
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

/// The texts of the few members that are read: a linear search costs less than hashing.
struct MemberTexts<Member: Equatable & Sendable>: Sendable {
    private var entries: [(member: Member, text: String)] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Makes room for so many at once.
    mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    /// The text of a member, if it has one. One that was set stays.
    subscript(member: Member) -> String? {
        // By index, because iteration over entries retains each one.
        for place in entries.indices where entries[place].member == member { return entries[place].text }
        return nil
    }

    /// Takes the text of a member that has none; of one that stands twice the first counts.
    mutating func add(_ text: String?, for member: Member) {
        guard let text, self[member] == nil else { return }
        entries.append((member, text))
    }

    /// Takes the texts that others have and this has not.
    mutating func complete(from others: MemberTexts) {
        for (member, text) in others.entries { add(text, for: member) }
    }
}

/// Numbers as Apple writes them, in text.
enum LenientNumber {
    /// Largest number of milliseconds that is a date: the end of the year 9999.
    private static let endOfTime: Int64 = 253_402_300_800_000

    /// A number without fraction and exponent where it has none to lose. A number that is too large for any purpose
    /// stays as it is: it is present, and unreadable.
    static func plain(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return text }
        guard let number = Double(text), number.isFinite else { return text }
        return (Int64(text) ?? Int64(exactly: number)).map { String($0) } ?? String(number)
    }

    /// A whole number, also written as `1.0` or `1e0`; saturates at the ends of `Int`. Nil for a fraction or no number.
    static func integer(_ text: String) -> Int? {
        if let number = Int(text) { return number }
        guard let number = Double(text), number.isFinite, number.rounded() == number else { return nil }
        return Int(exactly: number) ?? (number < 0 ? .min : .max)
    }

    /// Milliseconds since 1970, fractions cut off. Nil for no number, and for a moment before 1970 or after 9999.
    static func moment(_ text: String) -> Int64? {
        if let number = Int64(text) { return 0..<endOfTime ~= number ? number : nil }
        guard let number = Double(text), number >= 0, number < Double(endOfTime) else { return nil }
        return Int64(number)
    }

    /// The moment of something that happened to a purchase. A zero, as many programs write for none, says nothing, and
    /// neither does any other moment before the App Store opened.
    static func purchaseMoment(_ text: String) -> Timestamp? {
        moment(text).map { Timestamp(milliseconds: $0) }.flatMap { $0.mayBeOfPurchase ? $0 : nil }
    }

    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }
}

extension Timestamp {
    /// Whether the App Store was open.
    var mayBeOfPurchase: Bool { self >= SubmissionReading.earliestTime }
}
