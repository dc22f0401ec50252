import Purchases

/// What the database holds of all that a batch asks about.
struct KnownRows: Sendable {
    var submissions: [SubmissionKey: PriorSubmission] = [:]
    /// By the key of a claim, also where the grant of its transaction has another key.
    var grants: [String: GrantHolder] = [:]
    var quarantines: Set<EventID> = []
    /// Whether any delivery is open, of any grant.
    var hasOpenDeliveries = false

    /// What a batch most likely meets: nothing. The unique keys notice where it is otherwise.
    static let nothing = KnownRows()
}
