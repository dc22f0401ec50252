/// Why a database did not do what a connection asked of it.
///
/// Texts name neither values nor passwords: of the server's messages only the first line is kept, and none of those
/// that quote data.
enum PostgresFailure: Error, Hashable, Sendable {
    /// No connection came about. The state is the server's, where it answered.
    case unreachable(String, state: String?)
    /// Nothing can come of asking the server: a setting or a file that a person has to set right.
    case misconfigured(String)
    /// The server takes no writes, and writing is what the connection is for.
    case readOnly(PostgresSession.ReadOnly)
    /// The server refused a statement.
    case refused(String, state: String)
    /// The connection broke, or did not answer in time; whether a commit under way took effect is not known.
    case lost(String)
    /// What was decided no longer fits what the database holds: to be decided again.
    case overtaken
    /// A setting did not take that a promise rests on, or rows contradict each other.
    case damaged(String)
    /// The place is none for a ledger.
    case unusable(String)
    case schema(found: Int, known: Int)

    /// Whether the whole unit of work may simply be done again.
    var isRace: Bool {
        switch self {
        case .overtaken: true
        // serialization_failure, deadlock_detected
        case .refused(_, let state): state == "40001" || state == "40P01"
        default: false
        }
    }

    /// undefined_table, invalid_schema_name: the schema is gone, was renamed, or may not be used any more.
    static let withoutTables: Set = ["42P01", "3F000"]

    var findsNoTables: Bool {
        guard case .refused(_, let state) = self else { return false }
        return Self.withoutTables.contains(state)
    }
}
