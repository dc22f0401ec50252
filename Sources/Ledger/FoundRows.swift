public import Contract

/// A row of `grants`, and whether its fulfilment call is still owed.
public struct StoredGrant: Hashable, Sendable {
    public let grant: Grant
    public let owesCall: Bool

    public init(_ grant: Grant, owesCall: Bool) {
        self.grant = grant
        self.owesCall = owesCall
    }
}

/// A row of `grants` or `answers` with a word that only a later version knows: only its subject. Nothing is granted or
/// answered beside such a row. Its event's bytes are that version's to make.
public struct LaterRow: Hashable, Sendable {
    public let claimant: Claimant
    public let origin: Origin
    /// Of a grant, in an environment that this version knows.
    public let reference: GrantReference?
    /// Of a grant, as ``reference``.
    public let key: GrantKey?

    public init(_ claimant: Claimant, _ origin: Origin, reference: GrantReference?, key: GrantKey?) {
        self.claimant = claimant
        self.origin = origin
        self.reference = reference
        self.key = key
    }
}

/// Rows of `grants` that a question has found.
public struct FoundGrants: Hashable, Sendable {
    public var known: [StoredGrant] = []
    public var later: [LaterRow] = []

    public init(known: [StoredGrant] = [], later: [LaterRow] = []) {
        self.known = known
        self.later = later
    }

    public static func += (left: inout FoundGrants, right: FoundGrants) {
        left.known += right.known
        left.later += right.later
    }
}

/// Rows of `answers` that a question has found.
public struct FoundAnswers: Hashable, Sendable {
    public var known: [Answer] = []
    public var later: [LaterRow] = []

    public init(known: [Answer] = [], later: [LaterRow] = []) {
        self.known = known
        self.later = later
    }

    /// Questions for the grants that answer, where they are repeats.
    public var answering: [HolderQuestion] {
        known.compactMap { answer in
            guard case .repeated(let repeated) = answer else { return nil }
            return HolderQuestion(repeated.grant)
        }
    }
}

/// A question to `grants`: which rows hold the keys of a new one.
public struct HolderQuestion: Hashable, Sendable {
    public let reference: GrantReference
    /// Nil where the reference alone is asked for.
    public let key: GrantKey?

    public init(_ reference: GrantReference, _ key: GrantKey? = nil) {
        self.reference = reference
        self.key = key
    }
}

/// The reads of a batch in full form after the insertion of its grants.
public struct BatchQuestions: Sendable {
    public internal(set) var holders: [HolderQuestion] = []
    public internal(set) var submissions: [SubmissionKey] = []
    /// Apps that failures are about to call unknown.
    public internal(set) var apps: Set<BundleID> = []
    /// Claims of records that begin to wait, with a pending event: a row of them may wait already.
    public internal(set) var waiting: Set<RetryKey> = []
}
