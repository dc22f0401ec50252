/// The topics that Grantor reads and writes.
public enum Topic: String, Hashable, Sendable, CaseIterable {
    /// The input: submissions.
    case submitted
    /// Grants: items and the user they were given to.
    case granted
    /// Which submission will not be granted, and why.
    case failed
    /// Records of the input that name no submission or no user, as they came.
    case quarantined

    /// Its name, unless the configuration gives another one.
    public var defaultName: String {
        switch self {
        case .submitted: "receipts.submitted"
        case .granted: "purchases.granted"
        case .failed: "purchases.failed"
        case .quarantined: "receipts.quarantined"
        }
    }

    /// The topics that Grantor writes.
    public static let outputs: [Topic] = [.granted, .failed, .quarantined]
}
