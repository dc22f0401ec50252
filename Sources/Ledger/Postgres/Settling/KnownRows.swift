import Purchases

/// What the database holds of all that a batch asks about.
struct KnownRows: Sendable {
    var submissions: [ExactKey: PriorSubmission] = [:]
    var grants: [String: GrantHolder] = [:]
    var quarantines: Set<EventID> = []
    /// Whether any delivery is open, of any grant.
    var hasOpenDeliveries = false

    /// What a batch most likely meets: nothing. The unique keys notice where it is otherwise.
    static let nothing = KnownRows()
}

/// A submission's key, told from others by its bytes: Swift takes texts for the same that only look the same to Unicode.
struct ExactKey: Hashable, Sendable {
    let key: SubmissionKey

    init(_ key: SubmissionKey) {
        self.key = key
    }

    static func == (left: ExactKey, right: ExactKey) -> Bool {
        left.key.submissionID.rawValue.utf8.elementsEqual(right.key.submissionID.rawValue.utf8)
            && left.key.bundleID.rawValue.utf8.elementsEqual(right.key.bundleID.rawValue.utf8)
    }

    func hash(into hasher: inout Hasher) {
        // Equal keys have equal ids, so the app adds little.
        var id = key.submissionID.rawValue
        id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
