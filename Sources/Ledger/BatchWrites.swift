public import Contract

/// A grant that a batch tries to add.
public struct NewGrant: Hashable, Sendable {
    /// The decision's place in the batch.
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

    public var isEmpty: Bool { holders.isEmpty && submissions.isEmpty }
}

/// A new row of `answers`, inserted or left.
public struct NewAnswer: Hashable, Sendable {
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

/// A new row of `outbox`, due at once: inserted, or the one left that is there.
public struct NewOutboxRow: Hashable, Sendable {
    public let key: OutboxKey
    public let step: OutboxStep
    public let target: OutboxTarget
}

/// The writes of a batch in full form besides its grants, in the same transaction.
public struct BatchWrites: Sendable {
    /// Grants of this transaction that are deleted again, because another purchase of their submission could not be
    /// decided. A submission is written whole or not at all.
    public internal(set) var withdrawn: [GrantReference] = []
    public internal(set) var answers: [NewAnswer] = []
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

    var key: OutboxKey {
        switch self {
        case .grant(let grant, let submission): .granted(grant.reference, repeatOf: submission)
        case .failure(let failure): .failed(failure.claimant.bundleID, failure.claimant.submissionID)
        }
    }

    /// Made from the row alone, so that every copy is the same bytes.
    var event: StoredEvent {
        switch self {
        case .grant(let grant, let submission):
            StoredEvent(key: key, event: GrantedEvent.event(of: grant, repeatOf: submission))
        case .failure(let failure): StoredEvent(key: key, event: FailedEvent.event(of: failure))
        }
    }

    /// The row of the outbox that owes it.
    var outboxRow: NewOutboxRow { NewOutboxRow(key: key, step: .publish, target: key.target) }
}

/// The rows that hold what a batch's grants wanted.
struct Holders {
    private var byReference: [GrantReference: StoredGrant] = [:]
    private var byKey: [GrantKey: StoredGrant] = [:]

    init(_ rows: [StoredGrant]) {
        for row in rows {
            byReference[row.grant.reference] = row
            byKey[row.grant.key] = row
        }
    }

    /// Of two rows the transaction's decides: it is the purchase itself, the other one shares its key.
    func holder(of reference: GrantReference, _ key: GrantKey?) -> StoredGrant? {
        byReference[reference] ?? key.flatMap { byKey[$0] }
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
    private var heldOrders: Set<OrderID> = []

    init(_ decision: Decision) {
        claimant = decision.claimant
        origin = decision.origin
    }

    /// Judges a purchase that was not added.
    /// - Parameter holder: Nil where it is not visible yet.
    mutating func add(_ holder: StoredGrant?, productID: ProductID?, _ reference: GrantReference) {
        guard let holder else {
            isUndecided = true
            return
        }
        let grant = holder.grant
        // Two purchases of one submission may share a key, such as a purchase and its restore.
        guard !new.contains(where: { $0.reference == grant.reference }) else { return }
        if let order = grant.orderID { heldOrders.insert(order) }
        guard grant.bundleID == claimant.bundleID, grant.userID == claimant.userID else {
            reject(.ownedByAnotherUser, "The purchase was granted to another user before.", productID, reference)
            return
        }
        if grant.submissionID == claimant.submissionID, grant.origin == origin {
            if !redelivered.contains(holder) { redelivered.append(holder) }
        } else if let held = grant.orderID, let claimed = claimant.orderID, held != claimed {
            reject(
                .grantedToAnotherOrder, "The purchase was granted to this user for another order before.", productID,
                reference)
        } else {
            repeats.append(holder)
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
    /// answered so.
    func isAnswered(_ answer: Answer?) -> Bool {
        if case .repeated(let before) = answer, before.claimant.userID == claimant.userID { return true }
        return repeats.contains { held in
            held.grant.submissionID == claimant.submissionID
                || (claimant.orderID != nil && held.grant.orderID == claimant.orderID)
        }
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
