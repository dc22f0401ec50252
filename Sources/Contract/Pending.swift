/// A submission that waits: every value of its event.
public struct PendingSubmission: Hashable, Sendable {
    /// For what it waits. The raw values are the `state` of the event.
    public enum State: String, Hashable, Sendable {
        /// Apple cannot tell yet, or cannot be asked.
        case retrying
        /// Our configuration or a person must decide.
        case held
    }

    public let claimant: Claimant
    public let state: State
    /// A ``RetryCause`` or ``HoldCause``, or the word of a later version.
    public let cause: String
    /// Attempts that counted: there are none while Apple could not be asked.
    public let attempts: Int
    /// The time of the submission's record.
    public let receivedAt: Timestamp
    /// When the latest attempt ended, or ``receivedAt`` before the first one.
    public let at: Timestamp
    /// About when it is tried again.
    public let nextTryAt: Timestamp

    public init(
        claimant: Claimant, state: State, cause: String, attempts: Int, receivedAt: Timestamp, at: Timestamp,
        nextTryAt: Timestamp
    ) {
        self.claimant = claimant
        self.state = state
        self.cause = cause
        self.attempts = attempts
        self.receivedAt = receivedAt
        self.at = at
        self.nextTryAt = nextTryAt
    }
}

/// `purchases.pending`: a submission waits, why and for what.
///
/// It is published when a submission begins to wait, and when it passes from `retrying` to `held` or back. No event
/// says that the waiting ended: the granted or failed event does. Copies may come late and in any order, so its time
/// decides. It is never newer than the time of the event that ends the waiting, except by differences between workers'
/// clocks.
public enum PendingEvent {
    public static let type = "com.grantor.purchase.pending.v1"
    private static let typeHeader = CloudEvent.typeHeader(type)

    /// Made of the whole content, so one id has one content: two claims may come under one submission's id.
    static func id(of pending: PendingSubmission) -> EventID {
        let claimant = pending.claimant
        let texts = [
            claimant.bundleID.rawValue, claimant.submissionID.rawValue, claimant.userID.rawValue,
            claimant.orderID?.rawValue ?? "", claimant.traceparent ?? "", pending.state.rawValue, pending.cause,
            String(pending.attempts), String(pending.receivedAt.milliseconds), String(pending.at.milliseconds),
            String(pending.nextTryAt.milliseconds),
        ]
        // The lengths keep two lists of texts from running into the same name.
        let name = texts.reduce(into: "pending") { $0 += ":\($1.utf8.count):\($1)" }
        return EventID(NameBasedUUID.text(namespace: NameBasedUUID.events, name: name))
    }

    /// Makes the event of a waiting submission, ready to be published.
    public static func event(of pending: PendingSubmission) -> Event {
        let claimant = pending.claimant
        let id = id(of: pending)
        return Event(
            id: id, topic: .pending, key: Array(claimant.userID.rawValue.utf8),
            headers: CloudEvent.headers(
                id: id, type: typeHeader, subject: claimant.submissionID.rawValue, time: pending.at,
                traceparent: claimant.traceparent),
            value: value(of: pending, id: id))
    }

    private static func value(of pending: PendingSubmission, id: EventID) -> [UInt8] {
        var body = JSONObjectWriter()
        body.member("attempts", Int64(pending.attempts))
        body.member("bundleId", pending.claimant.bundleID.rawValue)
        body.member("cause", pending.cause)
        body.member("eventId", id.rawValue)
        body.member("nextTryAt", pending.nextTryAt)
        body.member("orderId", pending.claimant.orderID?.rawValue)
        body.member("pendingAt", pending.at)
        body.member("receivedAt", pending.receivedAt)
        body.member("state", pending.state.rawValue)
        body.member("submissionId", pending.claimant.submissionID.rawValue)
        body.member("userId", pending.claimant.userID.rawValue)
        return body.finished()
    }
}
