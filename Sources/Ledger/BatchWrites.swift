public import Contract

/// A grant that a batch tries to add.
public struct NewGrant: Hashable, Sendable {
    /// The decision's index in the batch.
    public let decision: Int
    public let grant: Grant
}

/// A row of `grants`, and whether its fulfilment call is still owed.
public struct StoredGrant: Hashable, Sendable {
    public let grant: Grant
    public let owesCall: Bool

    public init(_ grant: Grant, owesCall: Bool) {
        self.grant = grant
        self.owesCall = owesCall
    }
}

/// A row of `grants` or `answers` with a word that only a later version knows: what it is about, and nothing more. It
/// is there, so nothing is granted or answered beside it. Its event's bytes are that version's to make.
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

/// A question to `grants`: which rows hold what a new one wanted.
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
    /// Claims of records that begin to wait, and are to be told: a row of them may wait already.
    public internal(set) var waiting: Set<RetryKey> = []
}

/// A row of `answers` that a batch tries to add.
public struct NewAnswer: Hashable, Sendable {
    /// The decision's index in the batch.
    public let decision: Int
    public let answer: Answer
    /// The existing row is another user's repeat and is replaced. The grant has the same information, and this failure
    /// would otherwise not be told.
    public let replaces: Bool
}

/// A row of `retries` as a record adds it: inserted, or the one left that is there.
public struct NewRetry: Hashable, Sendable {
    public let key: RetryKey
    public let submission: Submission
    public let attempts: Int
    public let entry: RetryEntry
}

/// A row of `retries` that goes on waiting; its lease ends with it.
public struct RetryUpdate: Hashable, Sendable {
    public let lease: RetryLease
    public let attempts: Int
    public let entry: RetryEntry
}

/// A new row of `outbox`: inserted, or the one left that is there.
public struct NewOutboxRow: Hashable, Sendable {
    public let key: OutboxKey
    public let step: OutboxStep
    public let target: OutboxTarget
    /// Milliseconds until it is due.
    public let delay: Int64
    /// A quarantined record's.
    public let stub: QuarantineStub?

    private init(_ key: OutboxKey, _ step: OutboxStep, _ target: OutboxTarget, delay: Int64, stub: QuarantineStub?) {
        self.key = key
        self.step = step
        self.target = target
        self.delay = delay
        self.stub = stub
    }

    /// The fulfilment call of a new grant.
    init(call grant: Grant) {
        self.init(.granted(grant.reference, repeatOf: nil), .call, .service(grant.bundleID), delay: 0, stub: nil)
    }

    init(publishing key: OutboxKey) { self.init(key, .publish, key.target, delay: 0, stub: nil) }

    public init(_ entry: OutboxEntry) {
        self.init(entry.key, .publish, entry.key.target, delay: entry.delay, stub: entry.stub)
    }

    public init(_ stub: QuarantineStub) {
        self.init(stub.outboxKey, .publish, stub.outboxKey.target, delay: 0, stub: stub)
    }
}

/// The writes of a batch in full form besides its grants and answers, in the same transaction.
public struct BatchWrites: Sendable {
    /// Grants of this transaction that must not stay, because another purchase of their submission could not be
    /// decided. A submission is written whole or not at all.
    public internal(set) var withdrawn: [NewGrant] = []
    public internal(set) var retries: [NewRetry] = []
    public internal(set) var updatedRetries: [RetryUpdate] = []
    /// Rows of `retries` that were decided; each was found under its lease in this transaction.
    public internal(set) var endedRetries: [RetryLease] = []
    public internal(set) var outbox: [NewOutboxRow] = []
}

/// The content of an event about a row.
enum Telling: Hashable {
    case grant(Grant, repeatOf: SubmissionID?)
    case failure(Failure)
    case pending(PendingSubmission, RetryKey)

    var key: OutboxKey {
        switch self {
        case .grant(let grant, let submission): .granted(grant.reference, repeatOf: submission)
        case .failure(let failure): .failed(failure.claimant.bundleID, failure.claimant.submissionID)
        case .pending(_, let key): .pending(key)
        }
    }

    /// Made from the row alone, so that every copy is the same bytes.
    var event: RenderedEvent {
        switch self {
        case .grant(let grant, let submission):
            RenderedEvent(key: key, event: GrantedEvent.event(of: grant, repeatOf: submission))
        case .failure(let failure): RenderedEvent(key: key, event: FailedEvent.event(of: failure))
        case .pending(let pending, _): RenderedEvent(key: key, event: PendingEvent.event(of: pending))
        }
    }

    /// The row of the outbox that owes it.
    var outboxRow: NewOutboxRow { NewOutboxRow(publishing: key) }
}

extension NamedPurchase {
    var reference: GrantReference { GrantReference(environment: key.environment, transactionID: transactionID) }
}

/// The rows that hold what a batch's grants wanted.
struct Holders {
    enum Holder {
        case row(StoredGrant)
        /// There is one, and only a later version can read it.
        case later
        case none

        var row: StoredGrant? { if case .row(let stored) = self { stored } else { nil } }
        var isThere: Bool { if case .none = self { false } else { true } }
    }

    private var byReference: [GrantReference: Holder] = [:]
    private var byKey: [GrantKey: Holder] = [:]

    init(_ found: FoundGrants) {
        for row in found.known {
            byReference[row.grant.reference] = .row(row)
            byKey[row.grant.key] = .row(row)
        }
        for row in found.later {
            if let reference = row.reference { byReference[reference] = .later }
            if let key = row.key { byKey[key] = .later }
        }
    }

    /// Of two rows the transaction's decides: it is the purchase itself, the other one shares its key.
    func holder(of reference: GrantReference, _ key: GrantKey?) -> Holder {
        byReference[reference] ?? key.flatMap { byKey[$0] } ?? .none
    }
}

/// A user's submission: two users with one id have one each.
struct OwnClaim: Hashable {
    private let key: SubmissionKey
    private let userID: UserID

    init(_ claimant: Claimant) {
        key = claimant.submissionKey
        userID = claimant.userID
    }
}

/// The purchases of one submission, each judged by who holds it.
struct JudgedClaim {
    private let claimant: Claimant
    private let origin: Origin
    /// Added by this batch. To be set before the others are judged.
    var new: [Grant] = []
    /// Added for this very record before.
    private(set) var redelivered: [StoredGrant] = []
    /// The user's by other submissions, or by another record of this one.
    private var repeats: [StoredGrant] = []
    /// Why the first of them is not the user's, if one is not.
    private(set) var rejection: Rejection?
    private(set) var isUndecided = false
    /// Only a later version can read the row that holds one of them.
    private(set) var isLater = false
    private var heldOrders: Set<OrderID> = []

    init(_ decision: Decision) {
        claimant = decision.claimant
        origin = decision.origin
    }

    /// Judges a purchase that was not added.
    /// - Parameter holder: None where it is not visible yet.
    mutating func add(_ holder: Holders.Holder, productID: ProductID?, _ reference: GrantReference) {
        let stored: StoredGrant
        switch holder {
        case .row(let row): stored = row
        case .later:
            isLater = true
            return
        case .none:
            isUndecided = true
            return
        }
        let grant = stored.grant
        // Two purchases of one submission may share a key, such as a purchase and its restore.
        guard !new.contains(where: { $0.reference == grant.reference }) else { return }
        if let order = grant.orderID { heldOrders.insert(order) }
        guard grant.bundleID == claimant.bundleID, grant.userID == claimant.userID else {
            reject(
                .ownedByAnotherUser, "The purchase was granted to another user, whose submission was read first.",
                productID, reference)
            return
        }
        if grant.submissionID == claimant.submissionID, grant.origin == origin {
            if !redelivered.contains(stored) { redelivered.append(stored) }
        } else if let held = grant.orderID, let claimed = claimant.orderID, held != claimed {
            reject(
                .grantedToAnotherOrder, "The purchase was granted to this user for another order before.", productID,
                reference)
        } else {
            repeats.append(stored)
        }
    }

    private mutating func reject(
        _ reason: FailureReason, _ detail: String, _ productID: ProductID?, _ reference: GrantReference
    ) {
        rejection = rejection ?? Rejection(reason, detail, transactionID: reference.transactionID, productID: productID)
    }

    /// Whether it is about an order that none of the grants in its way has: about something that is not in the evidence
    /// yet.
    var namesUnknownOrder: Bool {
        guard let order = claimant.orderID else { return false }
        return !heldOrders.contains(order)
    }

    /// Whether it is about what was granted before: to the same order, or under the same submission id. Or it was
    /// answered so. Under the id no new row is written, so the one from before must show what is passed over.
    /// - Parameter isShown: Whether a row with this shows it.
    func isAnswered(_ answer: Answer?, isShown: (PassedOver?) -> Bool) -> Bool {
        if case .repeated(let before) = answer, before.claimant.userID == claimant.userID {
            return isShown(before.passedOver)
        }
        let own = repeats.filter { $0.grant.submissionID == claimant.submissionID }
        guard own.isEmpty else { return own.contains { isShown($0.grant.passedOver) } }
        return claimant.orderID != nil && repeats.contains { $0.grant.orderID == claimant.orderID }
    }

    /// The one grant that answers a repeat: the one that answered it before, else the newest.
    func answering(_ answer: Answer?) -> StoredGrant? {
        if case .repeated(let before) = answer,
            let holder = repeats.first(where: { $0.grant.reference == before.grant })
        {
            return holder
        }
        return repeats.max(by: Self.isOlder)
    }

    /// By the time of the purchase; of two at one time by reference, so that every worker finds the same.
    static func isOlder(_ left: StoredGrant, _ right: StoredGrant) -> Bool {
        left.grant.purchasedAt == right.grant.purchasedAt
            ? left.grant.reference < right.grant.reference : left.grant.purchasedAt < right.grant.purchasedAt
    }
}
