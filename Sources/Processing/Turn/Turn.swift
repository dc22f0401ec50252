import Contract
import Ledger
import Scheduling

/// Shared by the core's machines: the time, randomness, the apps file in force, and calls to the ledger. A turn's wants
/// of drivers and of other machines are in it, too.
struct Turn: ~Copyable {
    /// The instant and the wall-clock time of the present input.
    var now = Instant(nanoseconds: 0)
    var wall = Timestamp(milliseconds: 0)
    var generator: SplitMix64
    /// Nil before the first apps file.
    var apps: AppsSnapshot?
    var ledgerCalls = LedgerCalls()
    /// Of all machines.
    var transitions = TransitionCounts(isCounting: false)
    var actions = Actions()
    private var signals = FIFO<Signal>()

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func call(_ call: LedgerRequest.Call, for purpose: LedgerCalls.Purpose) {
        ledgerCalls.make(call, for: purpose, at: now, into: &actions)
    }

    mutating func alert(_ alert: Alert) { actions.alerts.append(alert) }

    /// Tells the other machines of something. The core routes it once the machine is done.
    mutating func signal(_ signal: Signal) { signals.append(signal) }

    /// The next signal to be routed, in the order in which they came.
    mutating func nextSignal() -> Signal? { signals.popFirst() }
}

/// News from one machine for another.
enum Signal {
    /// An event for the broker. Its owner hears how that ended.
    case publish(Event, EventFlight.Owner, OutboxEntry?)
    /// The outcome of a record is published or owed.
    case completed(index: Int, AssignmentID, number: UInt64)
    /// The ledger refuses a write, because another worker has the partition.
    case ownershipLost(index: Int, AssignmentID)
    /// Nothing that was read under it goes on.
    case assignmentEnded(AssignmentID)
    /// A suspect record needs another check, behind another mark.
    case checkAgain(index: Int, AssignmentID, PoisonWatch.Suspect)
    /// `retries` have a row that was tried and is due then, at a gate's index; nil for a held one.
    case rowWaits(gate: Int?, triedAt: Timestamp?, due: Instant)
    /// Due rows are worth a call now.
    case rowsDue
    /// Rows of this worker count against a sample that is older than they.
    case retriesGrew
    /// The trouble of a gate's endpoint is over.
    case endpointReplies(Endpoint, gate: Int, after: Duration)
    /// A fulfilment service that was away is called again.
    case serviceReplies(BundleID, after: Duration)
    /// A row of the outbox is due then.
    case outboxDue(Instant)
    /// Grants of an app are owed to its fulfilment service.
    case callOwed(BundleID)
    /// A person must look.
    case mustStop(StopReason)
}
