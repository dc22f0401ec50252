/// How full the gates are of records, as far as gates obey it.
enum Crowding: Comparable, Sendable {
    /// Less than half.
    case little
    /// At least half: silent endpoints give their room to others, and waits for rate limits are short.
    case half
    /// At least seven eighths: slow endpoints give their room to others, too.
    case mostly

    /// The shares from which on they are half and mostly full.
    static let (halfFrom, mostlyFrom) = (0.5, 0.875)
}
