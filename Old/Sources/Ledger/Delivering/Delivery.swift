public import Purchases

/// How a grant's event gets out where the app's inventory service has to be told first: a delivery is opened with the grant,
/// and its event enters the outbox when the service was told.
public enum DeliveryOrder: Hashable, Sendable {
    /// This worker tells the service at once, and has the delivery until the lease ends.
    case held(by: WorkerID, for: Duration)
    /// Due at once, for any worker.
    case due
}

/// A grant that an inventory service still has to be told of, with all that a call needs, on whichever worker.
public struct Delivery: Hashable, Sendable {
    /// Most copies that join a delivery and are published behind its event. What asks for more is answered by these.
    public static let maxJoined = 10

    public let bundleID: BundleID
    public let grantID: GrantID
    /// What the service is told, and what is published after that, byte for byte.
    public let event: Event
    /// Calls so far.
    public let attempts: Int
    /// The calls that did not help.
    public let history: AttemptHistory

    /// A delivery as read from the ledger.
    public init(
        bundleID: BundleID, grantID: GrantID, event: Event, attempts: Int = 0,
        history: AttemptHistory = AttemptHistory()
    ) {
        self.bundleID = bundleID
        self.grantID = grantID
        self.event = event
        self.attempts = attempts
        self.history = history
    }
}

/// What became of a delivery that a worker had.
public struct DeliveryReport: Hashable, Sendable {
    /// How the worker leaves it.
    public enum End: Hashable, Sendable {
        /// The service has it. Counts whoever has the delivery by now: what was told was told.
        case done
        /// To be told again after a while. Counts only while the delivery is still the worker's.
        case again(after: Duration)
    }

    public let eventID: EventID
    /// Calls so far.
    public let attempts: Int
    public let history: AttemptHistory
    public let end: End

    /// A report on a delivery, named by its grant's event.
    public init(eventID: EventID, attempts: Int, history: AttemptHistory, end: End) {
        self.eventID = eventID
        self.attempts = attempts
        self.history = history
        self.end = end
    }
}

/// How many deliveries a worker would take of an app's.
public struct DeliveryShare: Hashable, Sendable {
    public let bundleID: BundleID
    public let limit: Int

    /// A share above 0.
    public init(bundleID: BundleID, limit: Int) {
        self.bundleID = bundleID
        self.limit = limit
    }
}

/// How many deliveries are open.
public struct DeliveryCounts: Hashable, Sendable {
    public let open: Int
    /// When the first of them is, or was, due; nil if none is open.
    public let firstDueAt: Timestamp?

    /// Counts as of one moment.
    public init(open: Int, firstDueAt: Timestamp?) {
        self.open = open
        self.firstDueAt = firstDueAt
    }
}

/// A delivery as an operator sees it.
public struct DeliveryRow: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        /// The service still has to be told: next at this time, or until then by this worker.
        case open(dueAt: Timestamp, worker: WorkerID?)
        case done(at: Timestamp)
    }

    /// Place in the ledger's order; pages continue after it.
    public let sequence: Int64
    public let bundleID: BundleID
    public let grantID: GrantID
    public let eventID: EventID
    public let openedAt: Timestamp
    public let state: State
    /// Calls that were noted.
    public let attempts: Int
    public let history: AttemptHistory

    /// A row of the ledger.
    public init(
        sequence: Int64, bundleID: BundleID, grantID: GrantID, eventID: EventID, openedAt: Timestamp, state: State,
        attempts: Int, history: AttemptHistory
    ) {
        self.sequence = sequence
        self.bundleID = bundleID
        self.grantID = grantID
        self.eventID = eventID
        self.openedAt = openedAt
        self.state = state
        self.attempts = attempts
        self.history = history
    }

    /// Whether the service still has to be told.
    public var isOpen: Bool {
        if case .open = state { true } else { false }
    }
}

extension DeliveryOrder {
    /// Who has the delivery; nil if nobody has.
    var worker: WorkerID? {
        switch self {
        case .held(let worker, _): worker
        case .due: nil
        }
    }

    /// Time from now until it is due for others.
    var lease: Duration {
        switch self {
        case .held(_, let lease): lease
        case .due: .zero
        }
    }

    /// What the worker that has the delivery is given at once; nil if nobody has it.
    func opened(_ claim: GrantClaim, of bundleID: BundleID) -> Delivery? {
        guard worker != nil else { return nil }
        return Delivery(bundleID: bundleID, grantID: claim.grantID, event: claim.event)
    }
}
