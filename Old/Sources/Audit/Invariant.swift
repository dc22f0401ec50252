/// A statement about a ledger and its topics that must hold. The numbers are those under which the promises in
/// `docs/guarantees.md` name them; what only a simulation can know has a number there and no check here.
public enum Invariant: String, CaseIterable, Sendable, CustomStringConvertible {
    case committedHasFate = "I1"
    case committedIsContiguous = "I2"
    case grantedOnce = "I3"
    case everyRecordHasFate = "I5"
    case oneOwner = "I6"
    case oneKindOfAnswer = "I7"
    case outboxMatches = "I8"
    case copiesMatch = "I9"
    case publishedIsThere = "I10"
    case everythingIsThere = "I11"
    case orderPerKey = "I12"
    case quantitiesMatch = "I13"
    case nothingParkedIsForgotten = "I15"
    case quarantineIsUntouched = "I21"
    case deliveredFirst = "I22"

    /// Whether it holds only when everything that came in is settled and published. The others hold at any moment, while
    /// workers run as well.
    public var isAtQuiescence: Bool {
        switch self {
        case .everyRecordHasFate, .everythingIsThere, .quantitiesMatch: true
        default: false
        }
    }

    /// In plain words.
    public var statement: String {
        switch self {
        case .committedHasFate: "Every record below the committed offset has its fate in the ledger."
        case .committedIsContiguous: "No committed offset is beyond the first record without a fate."
        case .grantedOnce: "No purchase was granted twice."
        case .everyRecordHasFate: "Every record of the input topic has its fate in the ledger."
        case .oneOwner: "Nobody was told that a purchase is theirs which was granted to another user or order."
        case .oneKindOfAnswer:
            "A submission is answered with grants or with its one failure, never with both or neither."
        case .outboxMatches:
            "Each grant, failure and quarantined record has its one event in the outbox, and each event its cause."
        case .copiesMatch: "Every record on the output topics is, byte for byte, an event of the outbox."
        case .publishedIsThere: "Every event that the ledger counts as published is on its topic."
        case .everythingIsThere: "Every event of the outbox is on its topic."
        case .orderPerKey: "First copies of events with the same key came out in ledger order."
        case .quantitiesMatch: "Per product, the ledger granted as many as the topic tells."
        case .nothingParkedIsForgotten:
            "Every parked submission comes due by itself, nothing that has its outcome does, and in the end none waits."
        case .quarantineIsUntouched:
            "A quarantined record is, byte for byte, what came in, and nothing else became of it."
        case .deliveredFirst:
            "No event of a grant is published before the app's inventory service was told, and in the end all were."
        }
    }

    public var description: String { rawValue }
}
